/*
 * module: the modules (shared objects) that contain traced code. Each is defined once in the ring of this image (a
 * MODULE record), so that a reader can resolve code addresses.
 *
 * The kernel's list of mappings is read, not the loader's: the loader's may change concurrently, and its lock may be
 * held by a thread that waits for us.
 */
#ifndef SONDE_TRACER_MODULE_H
#define SONDE_TRACER_MODULE_H

#include "tracer/tracer.h"

/* Define the module of this code, which is being executed, in the ring if needed; the thread caches it. */
void module_use(uintptr_t code);

#endif
