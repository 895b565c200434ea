/*
 * bind: the hook table put into a running program, by rewriting the global offset tables of its objects.
 *
 * A slot is changed only when it holds what it should: the function that the hook itself calls, or
 * the way to it through the object's own procedure linkage table. So a slot bound to another
 * version of a symbol, to somebody else's function, or not yet relocated by the loader stays as it
 * is, and symbols that are chosen at run time (IFUNC) are compared by what was chosen. Tables that
 * the loader has made read-only (RELRO) are writable for that moment only; one that it has not yet
 * is left for later. The loader itself and libc are left alone.
 *
 * Objects that are opened later are bound when the program next asks for one of their symbols or
 * names a path, whichever comes first.
 */
#ifndef DFTRACER_BIND_H
#define DFTRACER_BIND_H

#include <stdbool.h>

/* Bind what is loaded. In a library that is preloaded the loader has done it. */
void bind_calls(void);

/* Something was opened since then. */
extern bool bind_is_pending __attribute__((visibility("hidden")));

#endif
