/*
 * arena: memory with one lifetime (a run opened, a request, a report).
 *
 * Pieces are never freed one by one; arena_release frees all. Pointers stay
 * valid until then. Out of memory returns NULL.
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
/* n zeroed bytes, aligned to 16. */
void *arena_alloc(struct arena *a, size_t n);
/* The n bytes and a '\0'. */
char *arena_copy(struct arena *a, const void *bytes, size_t n);
char *arena_strdup(struct arena *a, const char *text);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
