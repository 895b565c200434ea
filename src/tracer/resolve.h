/*
 * resolve: the next definition of a symbol behind libsonde, as dlsym(RTLD_NEXT)
 * would find it.
 *
 * dlsym is not used because it takes the loader's lock, which another thread may
 * hold while it waits for us, because it may allocate, and because it lives in
 * another library in older glibc. This walks the loader's list of objects and
 * their GNU hash tables; it takes no lock and allocates nothing.
 */
#ifndef SONDE_TRACER_RESOLVE_H
#define SONDE_TRACER_RESOLVE_H

/* Address of `name` in the objects loaded after libsonde (when it was not preloaded: in any other object), or NULL. */
void *resolve_next(const char *name);

#endif
