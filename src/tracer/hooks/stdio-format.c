/* Wrappers for formatted input and output. */
#include "tracer/hook.h"

/* <stdio.h> redirects scanf and its kin to these; here both names are defined. */
int __isoc99_vscanf(const char *format, va_list ap);
int __isoc99_vfscanf(FILE *stream, const char *format, va_list ap);

