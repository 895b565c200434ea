/*
 * arena: memory with one lifetime (an open run, a request, a report).
 *
 * Allocations are not freed individually; arena_release frees all of them. Pointers stay valid until then. Functions
 * return NULL if out of memory.
 */
#ifndef SONDE_BASE_ARENA_H
#define SONDE_BASE_ARENA_H

#include <stddef.h>

struct arena {
	/* private */
	struct arena_block *last;
	size_t used_bytes;
};

#define ARENA_INIT { .last = NULL, .used_bytes = 0 }

void arena_init(struct arena *a);
void arena_release(struct arena *a);
/* Returns n zeroed bytes, aligned to 16. */
void *arena_alloc(struct arena *a, size_t n);
/* Returns a copy of the n bytes, terminated with '\0'. */
char *arena_copy(struct arena *a, const void *bytes, size_t n);
char *arena_strdup(struct arena *a, const char *text);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
