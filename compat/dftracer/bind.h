/*
 * bind: install the hook table in a running program, by rewriting the global offset tables of its objects.
 *
 * A slot is changed only if it holds the expected value: the function that the hook itself calls, or the object's
 * procedure linkage table entry for it. A slot that is bound to another version of a symbol or to another library's
 * function, or is not yet relocated, is not changed; symbols chosen at run time (IFUNC) are compared by the chosen
 * function. Read-only tables (RELRO) are made writable only during the change; one that the dynamic linker is still
 * relocating is bound later. The dynamic linker and libc are not bound.
 *
 * Objects opened later are bound when the program next looks up one of their symbols or passes a path to a call,
 * whichever comes first.
 */
#ifndef DFTRACER_BIND_H
#define DFTRACER_BIND_H

#include <stdbool.h>

/* Bind the loaded objects. Does nothing in the preloaded library. */
void bind_calls(void);

/* An object was opened since the last bind_calls. */
extern bool bind_is_pending __attribute__((visibility("hidden")));

#endif
