/*
 * deflate: gzip members of lines that resemble each other (RFC 1951, RFC 1952).
 *
 * Tuned for logs: the match finder tries the distance of the previous match, then the last position with the same four
 * bytes, and takes the first match. On such text it is several times as fast as zlib's fastest level at the same size.
 * It is not a general compressor: text with few repetitions is only Huffman coded.
 *
 * Uses no memory outside the struct, no thread state, no system calls.
 */
#ifndef SONDE_PFW_DEFLATE_H
#define SONDE_PFW_DEFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEFLATE_HASH_BITS 13
#define DEFLATE_TOKENS 16384u
#define DEFLATE_LITERALS 286u
#define DEFLATE_DISTANCES 30u

struct deflate_code {
	uint16_t bits;
	uint8_t count;
};

struct deflater {
	bool has_pclmul;
	uint32_t crc_table[256];
	uint32_t seen[1u << DEFLATE_HASH_BITS]; /* 1 + last position of four bytes with this hash */
	uint32_t tokens[DEFLATE_TOKENS];
	uint32_t literal_uses[DEFLATE_LITERALS], distance_uses[DEFLATE_DISTANCES];
	struct deflate_code literals[DEFLATE_LITERALS], distances[DEFLATE_DISTANCES];
};

/* The memory need not be zeroed. */
void deflate_init(struct deflater *d);

/* Maximum size of a member of n bytes. */
static inline size_t deflate_bound(size_t n)
{
	return n + n / 4 + 1024;
}

/*
 * Writes one whole member to `out`, which has room for deflate_bound(n), and returns its size. n must be below 4 GiB.
 */
size_t deflate_member(struct deflater *d, const void *data, size_t n, void *out);

/* CRC-32 as in gzip. */
uint32_t deflate_crc(const struct deflater *d, const void *data, size_t n);

#endif
