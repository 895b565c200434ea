/*
 * deflate: gzip members of lines that resemble each other (RFC 1951, RFC 1952).
 *
 * Made for logs: what repeats is looked for where it was found last, then where the same four bytes were seen last,
 * and the first find is taken. That is several times as fast as zlib's fastest level on such text, and as small. It
 * is no general compressor: text that repeats little is only coded by the frequency of its bytes.
 *
 * No memory but the struct's own, no state in the thread, no system calls.
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
	uint32_t seen[1u << DEFLATE_HASH_BITS]; /* 1 + place of four bytes with this hash */
	uint32_t tokens[DEFLATE_TOKENS];
	uint32_t literal_uses[DEFLATE_LITERALS], distance_uses[DEFLATE_DISTANCES];
	struct deflate_code literals[DEFLATE_LITERALS], distances[DEFLATE_DISTANCES];
};

/* Any memory will do; what it held is not looked at. */
void deflate_init(struct deflater *d);

/* At most so many bytes for a member of n. */
static inline size_t deflate_bound(size_t n)
{
	return n + n / 4 + 1024;
}

/* One whole member into `out`, which has room for deflate_bound(n); its length. n is below 4 GiB. */
size_t deflate_member(struct deflater *d, const void *data, size_t n, void *out);

/* crc.c: that of gzip. */
uint32_t deflate_crc(const struct deflater *d, const void *data, size_t n);
void deflate_crc_init(struct deflater *d);

#endif
