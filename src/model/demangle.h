/*
 * demangle: C++ names as people write them.
 *
 * The work is done by the C++ run-time library of the machine, when it has one (it is
 * loaded at the first name that needs it, and linked to nothing); without it names stay
 * as they are.
 */
#ifndef SONDE_MODEL_DEMANGLE_H
#define SONDE_MODEL_DEMANGLE_H

#include "base/arena.h"

/* name itself when it is not mangled or cannot be told; else its meaning, in the arena. */
const char *model_demangle(struct arena *arena, const char *name);

#endif
