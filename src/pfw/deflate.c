/* The compressor: codes, checksum, matches. */
#include "pfw/deflate.h"

#include <cpuid.h>
#include <immintrin.h>
#include <string.h>

/*
 * CRC-32 of gzip, with carry-less multiplication if the processor supports it (V. Gopal et al., "Fast CRC Computation
 * for Generic Polynomials Using PCLMULQDQ Instruction", Intel 2009), otherwise byte by byte.
 */

#define POLYNOMIAL 0xedb88320u
#define FOLDED_BYTES 64u

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

/*
 * Length-limited minimum-redundancy codes. Code lengths by A. Moffat and J. Katajainen, "In-Place Calculation of
 * Minimum-Redundancy Codes" (1995); lengths above the limit are shortened and others grow in exchange.
 */

/* Bits and codes of deflate (RFC 1951); for deflate.c. */

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

#define SYMBOLS_MAX 288u
#define LENGTHS_MAX (DEFLATE_LITERALS + DEFLATE_DISTANCES)
#define LENGTH_CODES 19u
#define LENGTH_BITS_MAX 7u
#define REPEAT_LAST 16u
#define ZEROS_FEW 17u
#define ZEROS_MANY 18u

struct use {
	uint32_t count;
	uint16_t symbol;
};

/* Converts counts to code lengths, in place; n is at least 2. */
static void lengths_of(struct use *u, unsigned n)
{
	unsigned leaf = 2, root = 0;
	u[0].count += u[1].count;
	for (unsigned next = 1; next < n - 1; next++) { /* pairs: parents replace their children */
		if (leaf >= n || u[root].count < u[leaf].count) {
			u[next].count = u[root].count;
			u[root++].count = next;
		} else {
			u[next].count = u[leaf++].count;
		}
		if (leaf >= n || (root < next && u[root].count < u[leaf].count)) {
			u[next].count += u[root].count;
			u[root++].count = next;
		} else {
			u[next].count += u[leaf++].count;
		}
	}
	u[n - 2].count = 0; /* depths of inner nodes */
	for (unsigned i = n - 2; i-- > 0;)
		u[i].count = u[u[i].count].count + 1;
	unsigned free = 1, depth = 0, next = n;
	for (int at = (int)n - 2; free; depth++) { /* depths of leaves */
		unsigned used = 0;
		for (; at >= 0 && u[at].count == depth; at--)
			used++;
		for (; free > used; free--)
			u[--next].count = depth;
		free = 2 * used;
	}
}

/* Counts the codes of each length, with none above the limit. */
static void limit_lengths(const struct use *u, unsigned n, unsigned limit, unsigned *counts)
{
	uint32_t total = 0;
	for (unsigned i = 0; i < n; i++)
		counts[u[i].count < limit ? u[i].count : limit]++;
	for (unsigned i = 1; i <= limit; i++)
		total += counts[i] << (limit - i);
	for (; total > 1u << limit; total--) {
		unsigned i = limit - 1;
		while (!counts[i])
			i--;
		counts[limit]--;
		counts[i]--;
		counts[i + 1] += 2;
	}
}

static uint16_t reversed(unsigned bits, unsigned count)
{
	unsigned r = 0;
	for (unsigned i = 0; i < count; i++)
		r |= (bits >> i & 1) << (count - 1 - i);
	return (uint16_t)r;
}

/* Builds codes of at most `limit` bits from the use counts; unused symbols get no code. */
static void huffman_make(const uint32_t *uses, unsigned count, unsigned limit, struct deflate_code *codes)
{
	struct use used[SYMBOLS_MAX];
	unsigned n = 0, counts[HUFFMAN_BITS_MAX + 1] = { 0 };
	memset(codes, 0, count * sizeof(*codes));
	for (unsigned i = 0; i < count; i++)
		if (uses[i])
			used[n++] = (struct use){ .count = uses[i], .symbol = (uint16_t)i };
	if (n < 2) { /* one bit; one of its values is unused */
		codes[n ? used[0].symbol : 0].count = 1;
		return;
	}
	/* Sorts by count, ascending. There are few symbols, and most counts are small. */
	for (unsigned gap = n / 2; gap; gap = gap == 2 ? 1 : gap * 5 / 11)
		for (unsigned i = gap; i < n; i++) {
			struct use moved = used[i];
			unsigned j = i;
			for (; j >= gap && used[j - gap].count > moved.count; j -= gap)
				used[j] = used[j - gap];
			used[j] = moved;
		}
	lengths_of(used, n);
	limit_lengths(used, n, limit, counts);
	for (unsigned length = limit, i = 0; length; length--)
		for (unsigned k = counts[length]; k; k--)
			codes[used[i++].symbol].count = (uint8_t)length;
	/* Assigns canonical codes to the lengths. */
	unsigned next[HUFFMAN_BITS_MAX + 2] = { 0 };
	for (unsigned i = 1; i <= HUFFMAN_BITS_MAX; i++)
		next[i + 1] = (next[i] + counts[i]) << 1;
	for (unsigned i = 0; i < count; i++)
		if (codes[i].count)
			codes[i].bits = reversed(next[codes[i].count]++, codes[i].count);
}

/* Code lengths, run-length encoded. */

struct run {
	uint8_t symbol, extra, extra_bits;
};

/* The longest run that one symbol encodes, of `same` lengths: repeats of the previous length, or zeros. */
static struct run longest_run(uint8_t length, unsigned same, unsigned *taken)
{
	bool is_many = !length && same > 10;
	unsigned most = length ? 6 : is_many ? 138 : 10;
	*taken = same < most ? same : most;
	return (struct run){ .symbol = length ? REPEAT_LAST
				: is_many     ? ZEROS_MANY
					      : ZEROS_FEW,
		.extra = (uint8_t)(*taken - (is_many ? 11 : 3)),
		.extra_bits = length      ? 2
				: is_many ? 7
					  : 3 };
}

static unsigned put_runs(uint8_t length, unsigned same, struct run *runs)
{
	unsigned count = 0, taken;
	if (length) {
		runs[count++] = (struct run){ .symbol = length };
		same--;
	}
	for (; same >= 3; same -= taken)
		runs[count++] = longest_run(length, same, &taken);
	while (same--)
		runs[count++] = (struct run){ .symbol = length };
	return count;
}

static unsigned runs_of(const uint8_t *lengths, unsigned n, struct run *runs)
{
	unsigned count = 0;
	for (unsigned i = 0, same; i < n; i += same) {
		for (same = 1; i + same < n && lengths[i + same] == lengths[i];)
			same++;
		count += put_runs(lengths[i], same, runs + count);
	}
	return count;
}

static unsigned used_of(const struct deflate_code *codes, unsigned n, unsigned least)
{
	while (n > least && !codes[n - 1].count)
		n--;
	return n;
}

/* Writes the header of a dynamic block: both code tables. */
static void huffman_put_codes(struct bits *b, const struct deflate_code *literals, unsigned literal_count,
		const struct deflate_code *distances, unsigned distance_count)
{
	static const uint8_t order[LENGTH_CODES] = { 16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15 };
	uint8_t lengths[LENGTHS_MAX];
	struct run runs[LENGTHS_MAX];
	uint32_t uses[LENGTH_CODES] = { 0 };
	struct deflate_code codes[LENGTH_CODES];
	unsigned n = used_of(literals, literal_count, 257), m = used_of(distances, distance_count, 1);
	for (unsigned i = 0; i < n; i++)
		lengths[i] = literals[i].count;
	for (unsigned i = 0; i < m; i++)
		lengths[n + i] = distances[i].count;
	unsigned run_count = runs_of(lengths, n + m, runs), shown = LENGTH_CODES;
	for (unsigned i = 0; i < run_count; i++)
		uses[runs[i].symbol]++;
	huffman_make(uses, LENGTH_CODES, LENGTH_BITS_MAX, codes);
	while (shown > 4 && !codes[order[shown - 1]].count)
		shown--;
	bits_put(b, n - 257, 5);
	bits_put(b, m - 1, 5);
	bits_put(b, shown - 4, 4);
	for (unsigned i = 0; i < shown; i++) {
		bits_put(b, codes[order[i]].count, 3);
		bits_flush(b);
	}
	for (unsigned i = 0; i < run_count; i++) {
		bits_put(b, codes[runs[i].symbol].bits, codes[runs[i].symbol].count);
		bits_put(b, runs[i].extra, runs[i].extra_bits);
		bits_flush(b);
	}
}

#define MATCH_LEAST 4u
#define MATCH_MOST 258u
#define DISTANCE_MOST 32768u
#define TOKEN_MATCH 0x80000000u /* | length - 3 << 16 | distance - 1; else a byte */
#define BLOCK_END 256u
#define DYNAMIC 2u
#define FIXED 1u

static uint32_t load32(const uint8_t *at)
{
	uint32_t v;
	memcpy(&v, at, sizeof(v));
	return v;
}

static uint64_t load64(const uint8_t *at)
{
	uint64_t v;
	memcpy(&v, at, sizeof(v));
	return v;
}

/* Length and distance symbols. */

struct symbol {
	unsigned number, extra_bits, extra;
};

static inline struct symbol length_symbol(unsigned length)
{
	if (length == MATCH_MOST)
		return (struct symbol){ .number = 285 };
	unsigned v = length - 3;
	if (v < 8)
		return (struct symbol){ .number = 257 + v };
	unsigned top = 31u - (unsigned)__builtin_clz(v), bits = top - 2;
	return (struct symbol){ .number = 257 + 4 * bits + (v >> bits),
		.extra_bits = bits,
		.extra = v & ((1u << bits) - 1) };
}

static inline struct symbol distance_symbol(unsigned distance)
{
	unsigned v = distance - 1;
	if (v < 4)
		return (struct symbol){ .number = v };
	unsigned top = 31u - (unsigned)__builtin_clz(v), bits = top - 1;
	return (struct symbol){ .number = 2 * bits + (v >> bits), .extra_bits = bits, .extra = v & ((1u << bits) - 1) };
}

/* Blocks. */

static void put_code(struct bits *b, struct deflate_code code)
{
	bits_put(b, code.bits, code.count);
}

static void put_tokens(const struct deflater *d, struct bits *b, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t token = d->tokens[i];
		if (!(token & TOKEN_MATCH)) {
			put_code(b, d->literals[token]);
			bits_flush(b);
			continue;
		}
		struct symbol length = length_symbol((token >> 16 & 0xff) + 3),
			      distance = distance_symbol((token & 0x7fff) + 1);
		put_code(b, d->literals[length.number]);
		bits_put(b, length.extra, length.extra_bits);
		put_code(b, d->distances[distance.number]);
		bits_put(b, distance.extra, distance.extra_bits);
		bits_flush(b);
	}
	put_code(b, d->literals[BLOCK_END]);
	bits_flush(b);
}

static void block_begin(struct deflater *d)
{
	memset(d->literal_uses, 0, sizeof(d->literal_uses));
	memset(d->distance_uses, 0, sizeof(d->distance_uses));
	d->literal_uses[BLOCK_END] = 1;
}

static void block_end(struct deflater *d, struct bits *b, size_t count, bool is_last)
{
	huffman_make(d->literal_uses, DEFLATE_LITERALS, HUFFMAN_BITS_MAX, d->literals);
	huffman_make(d->distance_uses, DEFLATE_DISTANCES, HUFFMAN_BITS_MAX, d->distances);
	bits_put(b, is_last, 1);
	bits_put(b, DYNAMIC, 2);
	bits_flush(b);
	huffman_put_codes(b, d->literals, DEFLATE_LITERALS, d->distances, DEFLATE_DISTANCES);
	put_tokens(d, b, count);
	block_begin(d);
}

/* Match finder. */

static size_t common(const uint8_t *a, const uint8_t *b, size_t most)
{
	size_t n = 0;
	for (; n + 8 <= most; n += 8) {
		uint64_t differs = load64(a + n) ^ load64(b + n);
		if (differs)
			return n + (size_t)__builtin_ctzll(differs) / 8;
	}
	while (n < most && a[n] == b[n])
		n++;
	return n;
}

static void see(struct deflater *d, const uint8_t *data, size_t at, size_t *was)
{
	uint32_t *slot = &d->seen[load32(data + at) * 2654435761u >> (32 - DEFLATE_HASH_BITS)];
	*was = *slot;
	*slot = (uint32_t)at + 1;
}

/*
 * Returns the length of the match at this position; *distance is the previous match's distance on entry, this one's on
 * return.
 */
static size_t find(struct deflater *d, const uint8_t *data, size_t at, size_t n, size_t *distance)
{
	size_t most = n - at < MATCH_MOST ? n - at : MATCH_MOST, was;
	if (most < MATCH_LEAST)
		return 0;
	see(d, data, at, &was);
	if (*distance && load32(data + at) == load32(data + at - *distance))
		return common(data + at, data + at - *distance, most);
	if (!was || at - (was - 1) > DISTANCE_MOST || load32(data + at) != load32(data + was - 1))
		return 0;
	*distance = at - (was - 1);
	return common(data + at, data + was - 1, most);
}

static void put_body(struct deflater *d, struct bits *b, const uint8_t *data, size_t n)
{
	size_t count = 0, distance = 0;
	memset(d->seen, 0, sizeof(d->seen));
	block_begin(d);
	for (size_t at = 0; at < n;) {
		size_t length = find(d, data, at, n, &distance);
		if (length) {
			d->literal_uses[length_symbol((unsigned)length).number]++;
			d->distance_uses[distance_symbol((unsigned)distance).number]++;
			d->tokens[count++] = TOKEN_MATCH | (uint32_t)(length - 3) << 16 | (uint32_t)(distance - 1);
			at += length;
		} else {
			d->literal_uses[data[at]]++;
			d->tokens[count++] = data[at++];
		}
		if (count == DEFLATE_TOKENS && at < n) {
			block_end(d, b, count, false);
			count = 0;
		}
	}
	block_end(d, b, count, true);
}

void deflate_init(struct deflater *d)
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

size_t deflate_member(struct deflater *d, const void *data, size_t n, void *out)
{
	static const uint8_t head[10] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255 };
	struct bits b = { .at = (uint8_t *)out + sizeof(head) };
	memcpy(out, head, sizeof(head));
	if (n) {
		put_body(d, &b, data, n);
	} else {
		bits_put(&b, 1 | FIXED << 1, 3 + 7); /* an empty final block */
	}
	bits_flush(&b);
	uint8_t *end = b.at + (b.count != 0);
	uint32_t tail[2] = { deflate_crc(d, data, n), (uint32_t)n };
	memcpy(end, tail, sizeof(tail));
	return (size_t)(end - (uint8_t *)out) + sizeof(tail);
}
