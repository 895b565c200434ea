/*
 * XXH64 by Yann Collet, written from its specification
 * (xxHash fast digest algorithm, version 0.1.1, section "XXH64 algorithm description").
 */
#include "store/hash.h"

#include <string.h>

#define P1 0x9E3779B185EBCA87ull
#define P2 0xC2B2AE3D27D4EB4Full
#define P3 0x165667B19E3779F9ull
#define P4 0x85EBCA77C2B2AE63ull
#define P5 0x27D4EB2F165667C5ull

static uint64_t rotate(uint64_t v, unsigned bits)
{
	return v << bits | v >> (64 - bits);
}

static uint64_t read64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint32_t read32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return v;
}

static uint64_t round64(uint64_t acc, uint64_t lane)
{
	return rotate(acc + lane * P2, 31) * P1;
}

static uint64_t merge(uint64_t acc, uint64_t lane_acc)
{
	return (acc ^ round64(0, lane_acc)) * P1 + P4;
}

static uint64_t long_input(const uint8_t **p, const uint8_t *end, uint64_t seed)
{
	uint64_t a = seed + P1 + P2, b = seed + P2, c = seed, d = seed - P1;
	const uint8_t *at = *p;

	for (; end - at >= 32; at += 32) {
		a = round64(a, read64(at));
		b = round64(b, read64(at + 8));
		c = round64(c, read64(at + 16));
		d = round64(d, read64(at + 24));
	}
	*p = at;
	uint64_t acc = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18);
	return merge(merge(merge(merge(acc, a), b), c), d);
}

static uint64_t rest_of_input(uint64_t acc, const uint8_t *p, const uint8_t *end)
{
	for (; end - p >= 8; p += 8)
		acc = rotate(acc ^ round64(0, read64(p)), 27) * P1 + P4;
	if (end - p >= 4) {
		acc = rotate(acc ^ read32(p) * P1, 23) * P2 + P3;
		p += 4;
	}
	for (; p < end; p++)
		acc = rotate(acc ^ *p * P5, 11) * P1;
	return acc;
}

uint64_t store_hash(const void *bytes, size_t n, uint64_t seed)
{
	const uint8_t *p = bytes, *end = p + n;
	uint64_t acc = n >= 32 ? long_input(&p, end, seed) : seed + P5;

	acc = rest_of_input(acc + n, p, end);
	acc = (acc ^ acc >> 33) * P2;
	acc = (acc ^ acc >> 29) * P3;
	return acc ^ acc >> 32;
}
