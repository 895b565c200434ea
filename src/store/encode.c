/*
 * Encoding streams: choose the encoding with the smallest differences, split into planes, compress what shrinks.
 */
#include "store/codec.h"
#include "store/schema.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#define TILE 1024u      /* rows processed while in the L1 cache */
#define LEVEL 1         /* of zstd */
#define SHRINK_MIN 64u  /* shorter sections are not compressed */
#define SHRINK_SHARE 32 /* compression must save one part in this many; less is not worth decompressing */

/* How the numbers u of a stream are computed. */
struct plan {
	enum store_encoding encoding;
	uint64_t first;
	uint64_t base;
	unsigned width;
};

struct span {
	int64_t min, max;             /* of the values */
	int64_t delta_min, delta_max; /* of their differences, which wrap around */
};

void store_encoder_release(struct store_encoder *e)
{
	ZSTD_freeCCtx(e->zstd);
	free(e->planes);
	*e = (struct store_encoder){ 0 };
}

static int encoder_prepare(struct store_encoder *e, size_t rows)
{
	if (!e->zstd)
		e->zstd = ZSTD_createCCtx();
	if (e->rows_cap < rows) {
		free(e->planes);
		e->planes = aligned_alloc(64, 8 * ((rows + 63) & ~(size_t)63));
		e->rows_cap = e->planes ? rows : 0;
	}
	return e->zstd && e->planes ? 0 : -ENOMEM;
}

static unsigned bytes_of(uint64_t v)
{
	return v ? (71u - (unsigned)__builtin_clzll(v)) / 8 : 0;
}

static uint64_t zigzag(uint64_t v)
{
	return v << 1 ^ (uint64_t)((int64_t)v >> 63);
}

STORE_WIDE static struct span find_span(const int64_t *v, size_t rows)
{
	struct span s = { .min = v[0], .max = v[0], .delta_min = INT64_MAX, .delta_max = INT64_MIN };

	for (size_t i = 1; i < rows; i++) {
		int64_t delta = (int64_t)((uint64_t)v[i] - (uint64_t)v[i - 1]);

		s.min = v[i] < s.min ? v[i] : s.min;
		s.max = v[i] > s.max ? v[i] : s.max;
		s.delta_min = delta < s.delta_min ? delta : s.delta_min;
		s.delta_max = delta > s.delta_max ? delta : s.delta_max;
	}
	return s;
}

/* Differences of either sign: zigzag keeps small ones small; a base is used only where it saves a plane. */
static struct plan plan_delta(const struct span *s, uint64_t first)
{
	uint64_t range = (uint64_t)s->delta_max - (uint64_t)s->delta_min;
	uint64_t low = zigzag((uint64_t)s->delta_min), high = zigzag((uint64_t)s->delta_max);
	unsigned based = bytes_of(range);

	if (s->delta_min >= 0 && bytes_of((uint64_t)s->delta_max) == based)
		return (struct plan){ .encoding = STORE_DELTA, .first = first, .width = based };
	if (s->delta_min < 0 && bytes_of(low > high ? low : high) <= based)
		return (struct plan){
			.encoding = STORE_ZIGZAG,
			.first = first,
			.width = bytes_of(low > high ? low : high),
		};
	return (struct plan){
		.encoding = STORE_DELTA,
		.first = first,
		.base = (uint64_t)s->delta_min,
		.width = based,
	};
}

static struct plan build_plan(const struct span *s, uint64_t first, bool is_time)
{
	uint64_t range = (uint64_t)s->max - (uint64_t)s->min;
	uint64_t delta_range = (uint64_t)s->delta_max - (uint64_t)s->delta_min;

	if (range == 0)
		return (struct plan){ .encoding = STORE_CONSTANT, .first = first };
	if (is_time || delta_range < range)
		return plan_delta(s, first);
	return (struct plan){
		.encoding = STORE_OFFSET,
		.first = first,
		.base = (uint64_t)s->min,
		.width = bytes_of(range),
	};
}

/* u of n rows; prev is the value before them. */
static inline __attribute__((always_inline)) void transform(const struct plan *p, const uint64_t *v, uint64_t prev,
		size_t n, uint64_t *u)
{
	uint64_t base = p->base;

	if (p->encoding == STORE_OFFSET) {
		for (size_t i = 0; i < n; i++)
			u[i] = v[i] - base;
		return;
	}
	if (p->encoding == STORE_XOR) {
		u[0] = v[0] ^ prev;
		for (size_t i = 1; i < n; i++)
			u[i] = v[i] ^ v[i - 1];
		return;
	}
	u[0] = v[0] - prev - base;
	for (size_t i = 1; i < n; i++)
		u[i] = v[i] - v[i - 1] - base;
	if (p->encoding == STORE_ZIGZAG)
		for (size_t i = 0; i < n; i++)
			u[i] = zigzag(u[i]);
}

static inline __attribute__((always_inline)) void cut_plane(const uint64_t *u, size_t n, unsigned shift, uint8_t *plane)
{
	for (size_t i = 0; i < n; i++)
		plane[i] = (uint8_t)(u[i] >> shift);
}

STORE_WIDE static void cut_planes(struct store_encoder *e, const struct plan *p, const uint64_t *v, size_t rows)
{
	uint64_t u[TILE], prev = p->first - p->base;

	for (size_t at = 0; at < rows; at += TILE) {
		size_t n = rows - at < TILE ? rows - at : TILE;

		transform(p, v + at, prev, n, u);
		for (unsigned k = 0; k < p->width; k++)
			cut_plane(u, n, 8 * k, e->planes + k * rows + at);
		prev = v[at + n - 1];
	}
}

static void add_section(struct buf *out, enum store_section mode, const void *bytes, size_t n)
{
	uint32_t head = (uint32_t)mode << STORE_SECTION_SHIFT | (uint32_t)n;

	buf_add(out, &head, sizeof(head));
	buf_add(out, bytes, n);
}

static bool is_same(const uint8_t *bytes, size_t n)
{
	return memcmp(bytes, bytes + 1, n - 1) == 0;
}

/* Append the compressed section; false if it would not save enough. */
static bool add_compressed(struct store_encoder *e, struct buf *out, const uint8_t *bytes, size_t n)
{
	uint32_t head;
	size_t limit = n - n / SHRINK_SHARE, got;
	char *room;

	if (!buf_reserve(out, sizeof(head) + limit))
		return false;
	room = out->data + out->len;
	got = ZSTD_compressCCtx(e->zstd, room + sizeof(head), limit, bytes, n, LEVEL);
	if (ZSTD_isError(got))
		return false;
	head = (uint32_t)STORE_SECTION_ZSTD << STORE_SECTION_SHIFT | (uint32_t)got;
	memcpy(room, &head, sizeof(head));
	out->len += sizeof(head) + got;
	out->data[out->len] = '\0';
	return true;
}

static void shrink_section(struct store_encoder *e, struct buf *out, const uint8_t *bytes, size_t n)
{
	if (is_same(bytes, n))
		add_section(out, STORE_SECTION_SAME, bytes, 1);
	else if (n < SHRINK_MIN || !add_compressed(e, out, bytes, n))
		add_section(out, STORE_SECTION_RAW, bytes, n);
}

static void fill_stream(struct store_stream *s, const struct plan *p)
{
	*s = (struct store_stream){
		.encoding = (uint8_t)p->encoding,
		.width = (uint8_t)p->width,
		.first = p->first,
		.base = p->base,
	};
}

static void add_planes(struct store_encoder *e, const struct plan *p, const uint64_t *v, size_t rows, struct buf *out)
{
	if (p->width > 0)
		cut_planes(e, p, v, rows);
	for (unsigned k = 0; k < p->width; k++)
		shrink_section(e, out, e->planes + k * rows, rows);
}

/* Mark nulls in the bitmap and replace them with the previous value (or the first one that is not null). */
static void replace_nulls(int64_t *v, size_t rows, uint8_t *bitmap)
{
	size_t i = 0;
	int64_t last;

	while (v[i] == STORE_NULL)
		i++;
	last = v[i];
	memset(bitmap, 0, (rows + 7) / 8);
	for (i = 0; i < rows; i++) {
		if (v[i] == STORE_NULL) {
			bitmap[i / 8] |= (uint8_t)(1u << i % 8);
			v[i] = last;
		}
		last = v[i];
	}
}

int store_encode_ints(struct store_encoder *e, int64_t *values, size_t rows, bool is_time, struct store_stream *s,
		struct store_range *range, struct buf *out)
{
	struct span span = find_span(values, rows);
	bool has_nulls = span.min == STORE_NULL && span.max != STORE_NULL;
	struct plan plan;

	if (encoder_prepare(e, rows) < 0)
		return -ENOMEM;
	if (has_nulls) {
		replace_nulls(values, rows, e->planes);
		shrink_section(e, out, e->planes, (rows + 7) / 8);
		span = find_span(values, rows);
	}
	*range = (struct store_range){ .min = span.min, .max = span.max };
	plan = build_plan(&span, (uint64_t)values[0], is_time);
	if (has_nulls && plan.encoding == STORE_CONSTANT)
		plan = (struct plan){ .encoding = STORE_OFFSET, .first = plan.first, .base = plan.first };
	fill_stream(s, &plan);
	s->has_nulls = has_nulls;
	add_planes(e, &plan, (const uint64_t *)values, rows, out);
	return buf_error(out);
}

int store_encode_reals(struct store_encoder *e, const uint64_t *bits, size_t rows, struct store_stream *s,
		struct buf *out)
{
	struct plan plan = { .encoding = STORE_XOR, .first = bits[0] };
	uint64_t differing = 0;

	if (encoder_prepare(e, rows) < 0)
		return -ENOMEM;
	for (size_t i = 1; i < rows; i++)
		differing |= bits[i] ^ bits[i - 1];
	plan.width = bytes_of(differing);
	if (plan.width == 0)
		plan.encoding = STORE_CONSTANT;
	fill_stream(s, &plan);
	add_planes(e, &plan, bits, rows, out);
	return buf_error(out);
}

int store_encode_bytes(struct store_encoder *e, const void *bytes, size_t n, struct store_stream *s, struct buf *out)
{
	*s = (struct store_stream){ .encoding = STORE_BYTES, .first = n };
	if (n == 0)
		return 0;
	if (encoder_prepare(e, 1) < 0)
		return -ENOMEM;
	shrink_section(e, out, bytes, n);
	return buf_error(out);
}
