/*
 * Decoding streams. Payloads are untrusted: sections are bounded by the payload, their expanded size by the rows, and
 * arithmetic is unsigned, so it wraps.
 */
#include "store/codec.h"
#include "store/schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define TILE 1024u

void store_decoder_release(struct store_decoder *d)
{
	ZSTD_freeDCtx(d->zstd);
	free(d->planes);
	*d = (struct store_decoder){ 0 };
}

static int decoder_prepare(struct store_decoder *d, size_t rows)
{
	if (!d->zstd)
		d->zstd = ZSTD_createDCtx();
	if (d->rows_cap < rows) {
		free(d->planes);
		d->planes = aligned_alloc(64, 9 * ((rows + 63) & ~(size_t)63));
		d->rows_cap = d->planes ? rows : 0;
	}
	return d->zstd && d->planes ? 0 : -ENOMEM;
}

struct input {
	const uint8_t *at, *end;
};

/* A section of n bytes, in the payload itself or in scratch[n]; SAME has one byte. */
struct section {
	const uint8_t *bytes;
	bool is_same;
};

static int read_section(struct store_decoder *d, struct input *in, size_t n, uint8_t *scratch, struct section *out)
{
	uint32_t head, stored;
	enum store_section mode;

	if (in->end - in->at < (ptrdiff_t)sizeof(head))
		return -EBADMSG;
	memcpy(&head, in->at, sizeof(head));
	mode = head >> STORE_SECTION_SHIFT;
	stored = head & ((1u << STORE_SECTION_SHIFT) - 1);
	in->at += sizeof(head);
	if (stored > (size_t)(in->end - in->at))
		return -EBADMSG;
	*out = (struct section){ .bytes = in->at, .is_same = mode == STORE_SECTION_SAME };
	in->at += stored;
	if (mode == STORE_SECTION_SAME)
		return stored == 1 ? 0 : -EBADMSG;
	if (mode == STORE_SECTION_RAW)
		return stored == n ? 0 : -EBADMSG;
	if (mode != STORE_SECTION_ZSTD || ZSTD_decompressDCtx(d->zstd, scratch, n, out->bytes, stored) != n)
		return -EBADMSG;
	out->bytes = scratch;
	return 0;
}

/* Planes that differ from row to row, and the bits that all rows share. */
struct planes {
	const uint8_t *at[8];
	unsigned shift[8];
	unsigned count;
	uint64_t fixed;
};

static int read_planes(struct store_decoder *d, struct input *in, unsigned width, size_t rows, struct planes *p)
{
	*p = (struct planes){ .count = 0 };
	for (unsigned k = 0; k < width; k++) {
		struct section s;

		if (read_section(d, in, rows, d->planes + k * rows, &s) < 0)
			return -EBADMSG;
		if (s.is_same) {
			p->fixed |= (uint64_t)*s.bytes << 8 * k;
			continue;
		}
		p->at[p->count] = s.bytes;
		p->shift[p->count++] = 8 * k;
	}
	return 0;
}

static void join_planes(const struct planes *p, size_t from, size_t n, uint64_t *u)
{
	for (size_t i = 0; i < n; i++)
		u[i] = p->fixed;
	for (unsigned k = 0; k < p->count; k++) {
		const uint8_t *plane = p->at[k] + from;
		unsigned shift = p->shift[k];

		for (size_t i = 0; i < n; i++)
			u[i] |= (uint64_t)plane[i] << shift;
	}
}

static uint64_t undo(const struct store_stream *s, const uint64_t *u, size_t n, uint64_t prev, uint64_t *out)
{
	switch (s->encoding) {
	case STORE_OFFSET:
		for (size_t i = 0; i < n; i++)
			out[i] = u[i] + s->base;
		break;
	case STORE_DELTA:
		for (size_t i = 0; i < n; i++)
			out[i] = prev += u[i] + s->base;
		break;
	case STORE_ZIGZAG:
		for (size_t i = 0; i < n; i++)
			out[i] = prev += u[i] >> 1 ^ -(u[i] & 1);
		break;
	default: /* STORE_XOR */
		for (size_t i = 0; i < n; i++)
			out[i] = prev ^= u[i];
		break;
	}
	return prev;
}

static void put_nulls(const uint8_t *bitmap, size_t rows, int64_t *out)
{
	for (size_t i = 0; i < rows; i += 8) {
		unsigned bits = bitmap[i / 8];

		for (; bits; bits &= bits - 1) {
			size_t row = i + (unsigned)__builtin_ctz(bits);

			if (row < rows)
				out[row] = STORE_NULL;
		}
	}
}

static void fill(int64_t *out, size_t rows, int64_t value)
{
	for (size_t i = 0; i < rows; i++)
		out[i] = value;
}

static int read_bitmap(struct store_decoder *d, struct input *in, size_t rows, const uint8_t **bitmap)
{
	size_t n = (rows + 7) / 8;
	uint8_t *scratch = d->planes + 8 * rows;
	struct section s;
	int rc = read_section(d, in, n, scratch, &s);

	if (rc == 0 && s.is_same)
		s.bytes = memset(scratch, *s.bytes, n);
	*bitmap = s.bytes;
	return rc;
}

static int decode_planes(struct store_decoder *d, const struct store_stream *s, struct input *in, size_t rows,
		uint64_t *out)
{
	struct planes planes;
	uint64_t u[TILE], prev = s->first - s->base;

	if (read_planes(d, in, s->width, rows, &planes) < 0 || in->at != in->end)
		return -EBADMSG;
	for (size_t at = 0; at < rows; at += TILE) {
		size_t n = rows - at < TILE ? rows - at : TILE;

		join_planes(&planes, at, n, u);
		prev = undo(s, u, n, prev, out + at);
	}
	return 0;
}

int store_decode_numbers(struct store_decoder *d, const struct store_stream *s, const uint8_t *payload, size_t rows,
		int64_t *out)
{
	struct input in = { .at = payload, .end = payload + s->bytes };
	const uint8_t *bitmap = NULL;

	if (s->encoding == STORE_CONSTANT) {
		fill(out, rows, (int64_t)s->first);
		return s->bytes == 0 && s->width == 0 && !s->has_nulls ? 0 : -EBADMSG;
	}
	if (s->encoding > STORE_XOR || s->width > 8 || s->has_nulls > 1)
		return -EBADMSG;
	if (decoder_prepare(d, rows) < 0)
		return -ENOMEM;
	if (s->has_nulls && read_bitmap(d, &in, rows, &bitmap) < 0)
		return -EBADMSG;
	if (decode_planes(d, s, &in, rows, (uint64_t *)out) < 0)
		return -EBADMSG;
	if (bitmap)
		put_nulls(bitmap, rows, out);
	return 0;
}

int store_decode_bytes(struct store_decoder *d, const struct store_stream *s, const uint8_t *payload, uint8_t *out)
{
	struct input in = { .at = payload, .end = payload + s->bytes };
	struct section got;

	if (s->encoding != STORE_BYTES)
		return -EBADMSG;
	if (s->first == 0)
		return s->bytes == 0 ? 0 : -EBADMSG;
	if (decoder_prepare(d, 1) < 0)
		return -ENOMEM;
	if (read_section(d, &in, s->first, out, &got) < 0 || in.at != in.end)
		return -EBADMSG;
	if (got.is_same)
		memset(out, *got.bytes, s->first);
	else if (got.bytes != out)
		memcpy(out, got.bytes, s->first);
	return 0;
}
