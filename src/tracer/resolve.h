/*
 * resolve: the next definition of a symbol behind libsonde, as dlsym(RTLD_NEXT)
 * would find it.
 *
 * dlsym is not used because it takes the loader's lock, which another thread may
 * hold while it waits for us, because it may allocate, and because it lives in
 * another library in older glibc. This walks the loader's list of objects and
 * their GNU hash tables; it takes no lock and allocates nothing. The objects the
 * program started with are read once, so that a look-up costs little and can be
 * left to a function's first call.
 */
#ifndef SONDE_TRACER_RESOLVE_H
#define SONDE_TRACER_RESOLVE_H

#include <stdbool.h>

void resolve_init(void);

/* From now on search all objects but libsonde in the loader's order: for a library that is not preloaded. */
void resolve_from_start(void);

/* Address of `name` in the objects loaded after libsonde (when it was not preloaded: in any other object), or NULL. */
void *resolve_next(const char *name);

/* Does this object itself define the symbol? */
struct link_map;
bool resolve_defines(const struct link_map *map, const char *name);

#endif
