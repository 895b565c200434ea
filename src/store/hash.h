/*
 * hash: the 64-bit checksum of the table format (XXH64, seeded).
 *
 * It detects every change of a single 8-byte word, and any other damage with probability 1 - 2^-64. It does not
 * protect against deliberate forgery.
 */
#ifndef SONDE_STORE_HASH_H
#define SONDE_STORE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t store_hash(const void *bytes, size_t n, uint64_t seed);

#endif
