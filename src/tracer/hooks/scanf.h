/*
 * Must be included first: makes <stdio.h> and <wchar.h> declare scanf and related functions under their own names, not
 * as the __isoc99 ones, so that both can be defined.
 */
#ifndef SONDE_TRACER_HOOKS_SCANF_H
#define SONDE_TRACER_HOOKS_SCANF_H

#include <features.h>
#undef __GLIBC_USE_DEPRECATED_SCANF
#define __GLIBC_USE_DEPRECATED_SCANF 1

#endif
