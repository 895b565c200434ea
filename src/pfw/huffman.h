/* huffman: bits and codes of deflate (RFC 1951); for deflate.c. */
#ifndef SONDE_PFW_HUFFMAN_H
#define SONDE_PFW_HUFFMAN_H

#include "pfw/deflate.h"

#include <string.h>

#define HUFFMAN_BITS_MAX 15u

/* Output bits, the lowest first. Up to 8 bytes after `at` may be overwritten. */
struct bits {
	uint8_t *at;
	uint64_t waiting;
	unsigned count;
};

/* At most 56 bits between flushes. */
static inline void bits_put(struct bits *b, uint64_t value, unsigned count)
{
	b->waiting |= value << b->count;
	b->count += count;
}

static inline void bits_flush(struct bits *b)
{
	memcpy(b->at, &b->waiting, sizeof(b->waiting));
	b->at += b->count / 8;
	b->waiting >>= b->count & ~7u;
	b->count &= 7;
}

static inline uint8_t *bits_finish(struct bits *b)
{
	bits_flush(b);
	return b->at + (b->count != 0);
}

/* Builds codes of at most `limit` bits from the use counts; unused symbols get no code. */
void huffman_make(const uint32_t *uses, unsigned count, unsigned limit, struct deflate_code *codes);

/* Writes the header of a dynamic block: both code tables. */
void huffman_put_codes(struct bits *b, const struct deflate_code *literals, unsigned literal_count,
		const struct deflate_code *distances, unsigned distance_count);

#endif
