/*
 * heap: an append-only allocator with bounded memory, backed by a temporary file.
 *
 * Pieces are written once and read later, in order. Beyond a budget the oldest chunks are moved to an unlinked file
 * and mapped from there at the same address: pointers stay valid, and the kernel caches what is being read. One
 * thread at a time. Private to engine/.
 */
#ifndef SONDE_ENGINE_HEAP_H
#define SONDE_ENGINE_HEAP_H

#include <stddef.h>
#include <stdint.h>

#define HEAP_CHUNK_BYTES ((size_t)4 << 20) /* also the largest piece */

struct heap {
	size_t budget_bytes;
	/* private */
	uint8_t **chunks;
	size_t count, cap, used_bytes; /* used of the last chunk */
	size_t spilled;                /* chunks[0..spilled) are in the file */
	int fd;
};

void heap_init(struct heap *h, size_t budget_bytes);
void heap_release(struct heap *h);
/* Reserve up to n bytes, at most HEAP_CHUNK_BYTES; heap_took commits the number used. NULL if out of memory. */
uint8_t *heap_room(struct heap *h, size_t n);
void heap_took(struct heap *h, size_t n);

#endif
