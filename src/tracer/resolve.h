/*
 * resolve: finds the next definition of a symbol after libsonde, like dlsym(RTLD_NEXT).
 *
 * dlsym is not used: it takes the loader's lock, which another thread may hold while it waits for us; it may allocate;
 * and it is in another library in older glibc. This code walks the loader's list of objects and their GNU hash tables,
 * without locks and allocations. The objects present at program start are read once, so that a lookup is cheap and can
 * be deferred to a function's first call.
 */
#ifndef SONDE_TRACER_RESOLVE_H
#define SONDE_TRACER_RESOLVE_H

#include <stdbool.h>

void resolve_init(void);

/* Search all objects except libsonde in the loader's order: for a library that is not preloaded. */
void resolve_from_start(void);

/* Address of `name` in the objects loaded after libsonde (if it was not preloaded: in any other object), or NULL. */
void *resolve_next(const char *name);

/* Does this object itself define the symbol? */
struct link_map;
bool resolve_defines(const struct link_map *map, const char *name);

#endif
