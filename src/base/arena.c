/*
 * `last` is the block that allocations come from and `used_bytes` its fill. An allocation too large to share a block
 * gets its own block, linked behind `last`, so that the rest of `last` stays in use.
 */
#include "base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16, BLOCK_MIN = 4096, BLOCK_MAX = 1 << 18 };

struct arena_block {
	struct arena_block *prev;
	size_t size;
	_Alignas(ALIGN) char data[];
};

void arena_init(struct arena *a)
{
	*a = (struct arena)ARENA_INIT;
}

void arena_release(struct arena *a)
{
	while (a->last) {
		struct arena_block *prev = a->last->prev;

		free(a->last);
		a->last = prev;
	}
	arena_init(a);
}

static struct arena_block *block_new(size_t size)
{
	struct arena_block *block = calloc(1, sizeof(*block) + size);

	if (block)
		block->size = size;
	return block;
}

/* Block sizes double: a small arena stays small, and a large one calls malloc rarely. */
static int add_block(struct arena *a)
{
	size_t size = a->last ? a->last->size * 2 : BLOCK_MIN;
	struct arena_block *block;

	if (size > BLOCK_MAX)
		size = BLOCK_MAX;
	if (size < BLOCK_MIN)
		size = BLOCK_MIN;
	block = block_new(size);
	if (!block)
		return -1;
	block->prev = a->last;
	a->last = block;
	a->used_bytes = 0;
	return 0;
}

void *arena_alloc(struct arena *a, size_t n)
{
	void *piece;

	if (n > PTRDIFF_MAX / 2)
		return NULL;
	n = n ? (n + ALIGN - 1) / ALIGN * ALIGN : ALIGN;
	if (n > BLOCK_MIN / 4 && (!a->last || n > a->last->size - a->used_bytes)) {
		/* A large piece gets a block of its own, behind the current one, which still has room. */
		struct arena_block *block = block_new(n);

		if (!block)
			return NULL;
		if (a->last) {
			block->prev = a->last->prev;
			a->last->prev = block;
		} else {
			a->last = block;
			a->used_bytes = n;
		}
		return block->data;
	}
	if ((!a->last || n > a->last->size - a->used_bytes) && add_block(a) < 0)
		return NULL;
	piece = a->last->data + a->used_bytes;
	a->used_bytes += n;
	return piece;
}

char *arena_copy(struct arena *a, const void *bytes, size_t n)
{
	char *copy = n < SIZE_MAX ? arena_alloc(a, n + 1) : NULL;

	if (copy && n)
		memcpy(copy, bytes, n);
	return copy;
}

char *arena_strdup(struct arena *a, const char *text)
{
	return arena_copy(a, text, strlen(text));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	char *text;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	text = n < 0 ? NULL : arena_alloc(a, (size_t)n + 1);
	if (!text)
		return NULL;
	va_start(ap, fmt);
	vsnprintf(text, (size_t)n + 1, fmt, ap);
	va_end(ap);
	return text;
}
