/*
 * module: the objects whose code has been seen in this image, each told once to the
 * ring (a MODULE record), so that a reader can name code addresses.
 *
 * The kernel's list of mappings is read, not the loader's: that one may change
 * under us, and its lock may be held by a thread that waits for us.
 */
#ifndef SONDE_TRACER_MODULE_H
#define SONDE_TRACER_MODULE_H

#include "tracer/tracer.h"

/* See to it that the ring knows the module of this code, which is being executed; the thread remembers it. */
void module_use(uintptr_t code);

#endif
