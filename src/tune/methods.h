/*
 * methods: rows of tune_methods that are in separate files.
 */
#ifndef SONDE_TUNE_METHODS_H
#define SONDE_TUNE_METHODS_H

#include "tune/optimizer.h"

extern const struct tune_method tune_method_gp;     /* method-gp.c: the default */
extern const struct tune_method tune_method_tpe;    /* method-tpe.c */
extern const struct tune_method tune_method_selftf; /* method-selftf.c */

#endif
