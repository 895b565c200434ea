/* The compressor. huffman.c builds its codes. */
#include "pfw/deflate.h"

#include "pfw/huffman.h"

#include <string.h>

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
	deflate_crc_init(d);
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
	uint8_t *end = bits_finish(&b);
	uint32_t tail[2] = { deflate_crc(d, data, n), (uint32_t)n };
	memcpy(end, tail, sizeof(tail));
	return (size_t)(end - (uint8_t *)out) + sizeof(tail);
}
