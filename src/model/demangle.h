/*
 * demangle: demangle C++ names.
 *
 * Uses the machine's C++ run-time library if it is installed: it is loaded with dlopen for the first mangled name.
 * Without it names stay mangled.
 */
#ifndef SONDE_MODEL_DEMANGLE_H
#define SONDE_MODEL_DEMANGLE_H

#include "base/arena.h"

/* The demangled name, in the arena; name itself if it is not mangled or cannot be demangled. */
const char *model_demangle(struct arena *arena, const char *name);

#endif
