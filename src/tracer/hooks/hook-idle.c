/* Wrappers for stream queries. */
#include "tracer/hook.h"

#include <dirent.h>

#undef fileno_unlocked
#undef feof_unlocked
#undef ferror_unlocked
#undef clearerr_unlocked

int _IO_feof(FILE *stream);
int _IO_ferror(FILE *stream);

#include "calls/idle.def"
