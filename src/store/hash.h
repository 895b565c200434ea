/*
 * hash: the 64-bit checksum of the table format (XXH64, seeded).
 *
 * It finds every change of a single 8-byte word and any other damage with a
 * chance of 1 - 2^-64. It is no defence against an author who wants to deceive.
 */
#ifndef SONDE_STORE_HASH_H
#define SONDE_STORE_HASH_H

#include <stddef.h>
#include <stdint.h>

uint64_t store_hash(const void *bytes, size_t n, uint64_t seed);

#endif
