/*
 * hash: the 64-bit checksum of the table format (XXH64, seeded).
 *
 * It detects every change of a single 8-byte word, and any other damage with probability 1 - 2^-64. It does not
 * protect against deliberate forgery. libxxhash's header is compiled in: no program needs its library.
 */
#ifndef SONDE_STORE_HASH_H
#define SONDE_STORE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static inline uint64_t store_hash(const void *bytes, size_t n, uint64_t seed)
{
	return XXH64(bytes, n, seed);
}

#endif
