/* MD5 by R. Rivest, written from RFC 1321. */
#include "pfw/name-hash.h"

#include <string.h>

static const uint32_t sines[64] = {
	0xd76aa478,
	0xe8c7b756,
	0x242070db,
	0xc1bdceee,
	0xf57c0faf,
	0x4787c62a,
	0xa8304613,
	0xfd469501,
	0x698098d8,
	0x8b44f7af,
	0xffff5bb1,
	0x895cd7be,
	0x6b901122,
	0xfd987193,
	0xa679438e,
	0x49b40821,
	0xf61e2562,
	0xc040b340,
	0x265e5a51,
	0xe9b6c7aa,
	0xd62f105d,
	0x02441453,
	0xd8a1e681,
	0xe7d3fbc8,
	0x21e1cde6,
	0xc33707d6,
	0xf4d50d87,
	0x455a14ed,
	0xa9e3e905,
	0xfcefa3f8,
	0x676f02d9,
	0x8d2a4c8a,
	0xfffa3942,
	0x8771f681,
	0x6d9d6122,
	0xfde5380c,
	0xa4beea44,
	0x4bdecfa9,
	0xf6bb4b60,
	0xbebfbc70,
	0x289b7ec6,
	0xeaa127fa,
	0xd4ef3085,
	0x04881d05,
	0xd9d4d039,
	0xe6db99e5,
	0x1fa27cf8,
	0xc4ac5665,
	0xf4292244,
	0x432aff97,
	0xab9423a7,
	0xfc93a039,
	0x655b59c3,
	0x8f0ccc92,
	0xffeff47d,
	0x85845dd1,
	0x6fa87e4f,
	0xfe2ce6e0,
	0xa3014314,
	0x4e0811a1,
	0xf7537e82,
	0xbd3af235,
	0x2ad7d2bb,
	0xeb86d391,
};
static const uint8_t shifts[4][4] = { { 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 }, { 6, 10, 15, 21 } };

static uint32_t mix(unsigned round, uint32_t b, uint32_t c, uint32_t d)
{
	switch (round) {
	case 0:
		return (b & c) | (~b & d);
	case 1:
		return (d & b) | (~d & c);
	case 2:
		return b ^ c ^ d;
	default:
		return c ^ (b | ~d);
	}
}

static void add_block(uint32_t state[4], const uint8_t *block)
{
	static const uint8_t steps[4] = { 1, 5, 3, 7 }, starts[4] = { 0, 1, 5, 0 };
	uint32_t words[16], a = state[0], b = state[1], c = state[2], d = state[3];

	memcpy(words, block, sizeof(words));
	for (unsigned i = 0; i < 64; i++) {
		unsigned round = i / 16, shift = shifts[round][i % 4];
		uint32_t sum = a + mix(round, b, c, d) + words[(starts[round] + steps[round] * i) % 16] + sines[i];

		a = d;
		d = c;
		c = b;
		b += sum << shift | sum >> (32 - shift);
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
}

void pfw_md5(const void *bytes, size_t n, uint8_t digest[16])
{
	uint32_t state[4] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 };
	uint8_t tail[128] = { 0 };
	size_t whole = n & ~(size_t)63, left = n - whole, tail_bytes = left < 56 ? 64 : 128;
	uint64_t bits = (uint64_t)n * 8;

	for (size_t at = 0; at < whole; at += 64)
		add_block(state, (const uint8_t *)bytes + at);
	if (left)
		memcpy(tail, (const uint8_t *)bytes + whole, left);
	tail[left] = 0x80;
	memcpy(tail + tail_bytes - 8, &bits, sizeof(bits));
	for (size_t at = 0; at < tail_bytes; at += 64)
		add_block(state, tail + at);
	memcpy(digest, state, sizeof(state));
}

uint64_t pfw_hash_c(const void *bytes, size_t n)
{
	uint8_t digest[16];
	uint64_t hash = 0;

	pfw_md5(bytes, n, digest);
	for (unsigned i = 0; i < 16; i++)
		hash = hash << 4 | digest[i] >> 4;
	return hash;
}

uint64_t pfw_hash_d(const void *bytes, size_t n)
{
	uint8_t digest[16];
	uint64_t hash = 0;

	pfw_md5(bytes, n, digest);
	for (unsigned i = 0; i < 16; i += 2)
		hash = hash << 8 | digest[i];
	return hash;
}
