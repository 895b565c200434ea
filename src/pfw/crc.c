/*
 * CRC-32 of gzip, with carry-less multiplication if the processor supports it (V. Gopal et al., "Fast CRC Computation
 * for Generic Polynomials Using PCLMULQDQ Instruction", Intel 2009), otherwise byte by byte.
 */
#include "pfw/deflate.h"

#include <cpuid.h>
#include <immintrin.h>

#define POLYNOMIAL 0xedb88320u
#define FOLDED_BYTES 64u

void deflate_crc_init(struct deflater *d)
{
	unsigned a, b, c = 0, e;
	d->has_pclmul = __get_cpuid(1, &a, &b, &c, &e) && (c & bit_PCLMUL) && (c & bit_SSE4_1);
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t crc = i;
		for (unsigned bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
		d->crc_table[i] = crc;
	}
}

static uint32_t crc_bytes(const struct deflater *d, uint32_t crc, const uint8_t *at, size_t n)
{
	while (n--)
		crc = crc >> 8 ^ d->crc_table[(crc ^ *at++) & 0xff];
	return crc;
}

__attribute__((target("pclmul,sse4.1"))) static __m128i fold(__m128i x, __m128i by, __m128i next)
{
	__m128i low = _mm_clmulepi64_si128(x, by, 0x00), high = _mm_clmulepi64_si128(x, by, 0x11);
	return _mm_xor_si128(_mm_xor_si128(low, high), next);
}

/* n is a multiple of 16 and at least 64. */
__attribute__((target("pclmul,sse4.1"))) static uint32_t crc_folded(uint32_t crc, const uint8_t *at, size_t n)
{
	const __m128i by_four = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4);
	const __m128i by_one = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
	const __m128i *in = (const __m128i *)(const void *)at;
	__m128i x[4];
	for (unsigned i = 0; i < 4; i++)
		x[i] = _mm_loadu_si128(in + i);
	x[0] = _mm_xor_si128(x[0], _mm_cvtsi32_si128((int)crc));
	for (in += 4, n -= FOLDED_BYTES; n >= FOLDED_BYTES; in += 4, n -= FOLDED_BYTES)
		for (unsigned i = 0; i < 4; i++)
			x[i] = fold(x[i], by_four, _mm_loadu_si128(in + i));
	__m128i r = fold(fold(fold(x[0], by_one, x[1]), by_one, x[2]), by_one, x[3]);
	for (; n; in++, n -= 16)
		r = fold(r, by_one, _mm_loadu_si128(in));
	/* reduce 128 bits to 64, then to 32 (Barrett reduction) */
	const __m128i mask = _mm_setr_epi32(~0, 0, ~0, 0);
	r = _mm_xor_si128(_mm_srli_si128(r, 8), _mm_clmulepi64_si128(r, by_one, 0x10));
	__m128i rest = _mm_srli_si128(r, 4);
	r = _mm_xor_si128(_mm_clmulepi64_si128(_mm_and_si128(r, mask), _mm_set_epi64x(0, 0x0163cd6124), 0x00), rest);
	const __m128i barrett = _mm_set_epi64x(0x01f7011641, 0x01db710641);
	__m128i t = _mm_clmulepi64_si128(_mm_and_si128(r, mask), barrett, 0x10);
	t = _mm_clmulepi64_si128(_mm_and_si128(t, mask), barrett, 0x00);
	return (uint32_t)_mm_extract_epi32(_mm_xor_si128(r, t), 1);
}

uint32_t deflate_crc(const struct deflater *d, const void *data, size_t n)
{
	const uint8_t *at = data;
	uint32_t crc = ~0u;
	if (d->has_pclmul && n >= FOLDED_BYTES) {
		size_t whole = n & ~(size_t)15;
		crc = crc_folded(crc, at, whole);
		at += whole;
		n -= whole;
	}
	return ~crc_bytes(d, crc, at, n);
}
