#include "store/block-builder.h"

#include "store/hash.h"
#include "store/writer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STAGGER_BYTES 192u

/* Rows. */

/* Arrays start this far apart modulo a page; otherwise equal rows of all columns would share the same cache lines. */

/* A field of a row, of any type. */
typedef int64_t __attribute__((may_alias)) word;

void store_gather_reset(struct store_gather *g)
{
	for (unsigned c = 0; c < g->schema->count; c++)
		buf_reset(&g->texts[c]);
	g->rows = 0;
	g->text_bytes = 0;
}

/* The text of a field of a TEXT column; NULL if it is null. */
static const struct store_text *text_at(const word *field)
{
	const struct store_text *text;

	memcpy(&text, field, sizeof(text));
	return text && text->data ? text : NULL;
}

/* True if the row has only INT columns and null texts. Most rows do, and skip the handling of texts. */
static inline __attribute__((always_inline)) bool is_plain(const struct store_gather *g, const word *row)
{
	word any = g->has_reals;

	for (unsigned k = 0; k < g->special_count; k++)
		any |= row[g->special[k]];
	return !any;
}

static int64_t null_if_nan(int64_t bits)
{
	double real;

	memcpy(&real, &bits, sizeof(real));
	real = isnan(real) ? STORE_NULL_REAL : real;
	memcpy(&bits, &real, sizeof(real));
	return bits;
}

/* The stored values of the special columns. Reserves memory for texts; adds nothing yet. */
static int convert_special(struct store_gather *g, const word *row, int64_t *settled)
{
	uint64_t bytes = g->text_bytes;

	for (unsigned k = 0; k < g->special_count; k++) {
		unsigned c = g->special[k];
		const struct store_text *text = g->is_real[k] ? NULL : text_at(&row[c]);

		settled[k] = g->is_real[k] ? null_if_nan(row[c]) : STORE_NULL;
		if (!text)
			continue;
		if (text->bytes > STORE_TEXT_BYTES_MAX)
			return -EMSGSIZE;
		bytes += text->bytes;
		if (bytes > STORE_BLOCK_TEXT_MAX)
			return -ENOSPC;
		if (!buf_reserve(&g->texts[c], text->bytes))
			return -ENOMEM;
		settled[k] = (int64_t)text->bytes;
	}
	return 0;
}

static void start_block(struct store_gather *g, const word *row, const int64_t *settled)
{
	g->varying_count = 0;
	for (unsigned c = 0; c < g->schema->count; c++) {
		g->same[c] = row[c];
		g->is_same[c] = -1;
		g->watched[c] = g->schema->columns[c].kind == STORE_INT ? -1 : 0;
	}
	for (unsigned k = 0; k < g->special_count; k++)
		g->same[g->special[k]] = settled[k];
}

/* Allocate an array for the column and fill it with the value of all rows so far. */
static int start_varying(struct store_gather *g, unsigned c)
{
	if (!g->memory[c]) {
		size_t stagger = c * STAGGER_BYTES;

		g->memory[c] = aligned_alloc(64, STORE_BLOCK_ROWS * sizeof(int64_t) + stagger);
		if (!g->memory[c])
			return -ENOMEM;
		g->values[c] = (int64_t *)((char *)g->memory[c] + stagger);
	}
	for (size_t i = 0; i < g->rows; i++)
		g->values[c][i] = g->same[c];
	g->is_same[c] = 0;
	return 0;
}

/* Start arrays for the INT columns that change with this row. */
static int start_varying_ints(struct store_gather *g, const word *row)
{
	for (unsigned c = 0; c < g->schema->count; c++) {
		if (((row[c] ^ g->same[c]) & g->watched[c]) == 0)
			continue;
		if (start_varying(g, c) < 0)
			return -ENOMEM;
		g->watched[c] = 0;
		g->varying[g->varying_count++] = c;
	}
	return 0;
}

static int start_varying_special(struct store_gather *g, const int64_t *settled)
{
	for (unsigned k = 0; k < g->special_count; k++) {
		unsigned c = g->special[k];

		if (g->is_same[c] && settled[k] != g->same[c] && start_varying(g, c) < 0)
			return -ENOMEM;
	}
	return 0;
}

static inline __attribute__((always_inline)) void add_ints(struct store_gather *g, const word *row)
{
	const unsigned count = g->varying_count;
	const size_t at = g->rows;

	for (unsigned k = 0; k < count; k++)
		g->values[g->varying[k]][at] = row[g->varying[k]];
}

static void add_special(struct store_gather *g, const word *row, const int64_t *settled)
{
	for (unsigned k = 0; k < g->special_count; k++) {
		unsigned c = g->special[k];
		struct buf *texts = &g->texts[c];

		if (!g->is_same[c])
			g->values[c][g->rows] = settled[k];
		if (g->is_real[k] || settled[k] == STORE_NULL || settled[k] == 0)
			continue;
		/* settle() reserved the space. */
		memcpy(texts->data + texts->len, text_at(&row[c])->data, (size_t)settled[k]);
		texts->len += (size_t)settled[k];
		texts->data[texts->len] = '\0';
		g->text_bytes += (uint64_t)settled[k];
	}
}

/* INT columns of the next row. */
static inline __attribute__((always_inline)) int put_ints(struct store_gather *g, const word *fields)
{
	int64_t differs = 0;

	for (unsigned c = 0; c < g->schema->count; c++)
		differs |= (fields[c] ^ g->same[c]) & g->watched[c];
	if (differs && start_varying_ints(g, fields) < 0)
		return -ENOMEM;
	add_ints(g, fields);
	return 0;
}

STORE_WIDE int store_gather_add(struct store_gather *g, const void *row)
{
	int64_t settled[STORE_COLUMNS_MAX];
	const word *fields = row;
	bool plain = is_plain(g, fields);
	int rc;

	if (!(plain && g->is_plain) || g->rows == 0) {
		rc = convert_special(g, fields, settled);
		if (rc < 0)
			return rc;
		if (g->rows == 0) {
			start_block(g, fields, settled);
			g->is_plain = plain;
		}
		if (start_varying_special(g, settled) < 0)
			return -ENOMEM;
	}
	if (put_ints(g, fields) < 0)
		return -ENOMEM;
	if (!(plain && g->is_plain)) {
		g->is_plain = false;
		add_special(g, fields, settled);
	}
	g->rows++;
	return 0;
}

/* Blocks. */

static int encode_numbers(struct store_build *b, unsigned c, struct store_stream *s)
{
	const struct store_column_schema *column = &b->schema->columns[c];
	const struct store_gather *g = &b->gather;
	struct store_range range = { .min = g->same[c], .max = g->same[c] };
	int rc = 0;

	if (g->is_same[c])
		*s = (struct store_stream){ .encoding = STORE_CONSTANT, .first = (uint64_t)g->same[c] };
	else if (column->kind == STORE_REAL)
		rc = store_encode_reals(&b->encoder, (const uint64_t *)g->values[c], g->rows, s, &b->out);
	else
		rc = store_encode_ints(&b->encoder, g->values[c], g->rows, column->semantic == STORE_TIME, s, &range,
				&b->out);
	/* The first time and the first duration are the zone of the block. */
	if (column->semantic == STORE_TIME && !b->has_time) {
		b->has_time = true;
		b->time = range;
	}
	if (column->semantic == STORE_DURATION && !b->has_dur) {
		b->has_dur = true;
		b->dur = range;
	}
	return rc;
}

static void seal_stream(struct store_build *b, struct store_stream *s, size_t from)
{
	s->bytes = (uint32_t)(b->out.len - from);
	s->hash = store_hash(b->out.data + from, s->bytes, b->salt);
}

int store_build_encode(struct store_build *b)
{
	size_t head_bytes = store_block_head_bytes(b->stream_count);

	b->has_time = b->has_dur = false;
	buf_reset(&b->out);
	if (!buf_room(&b->out, head_bytes))
		return -ENOMEM;
	b->out.len += head_bytes;
	struct store_stream *s = b->streams;

	for (unsigned c = 0; c < b->schema->count; c++, s++) {
		const struct buf *text = &b->gather.texts[c];
		size_t from = b->out.len;

		if (encode_numbers(b, c, s) < 0)
			return -ENOMEM;
		seal_stream(b, s, from);
		if (b->schema->columns[c].kind != STORE_TEXT)
			continue;
		from = b->out.len;
		if (store_encode_bytes(&b->encoder, text->data, text->len, ++s, &b->out) < 0)
			return -ENOMEM;
		seal_stream(b, s, from);
	}
	return buf_error(&b->out);
}

struct store_entry store_build_place(struct store_build *b, uint64_t offset, uint64_t number, uint64_t first_row)
{
	bool has_time = b->has_time && b->time.min != STORE_NULL;
	struct store_entry entry = {
		.offset = offset,
		.bytes = b->out.len,
		.number = number,
		.first_row = first_row,
		.time_min_ns = has_time ? b->time.min : STORE_NULL,
		.time_max_ns = has_time ? b->time.max : STORE_NULL,
		.dur_max_ns = b->has_dur && b->dur.max > 0 ? b->dur.max : 0,
		.rows = b->gather.rows,
	};

	uint32_t head_bytes = (uint32_t)store_block_head_bytes(b->stream_count);
	struct store_block_head head = {
		.bytes = head_bytes,
		.rows = (uint32_t)entry.rows,
		.payload_bytes = entry.bytes - head_bytes,
		.number = entry.number,
		.first_row = entry.first_row,
		.time_min_ns = entry.time_min_ns,
		.time_max_ns = entry.time_max_ns,
		.dur_max_ns = entry.dur_max_ns,
		.streams = b->stream_count,
	};

	memcpy(head.magic, STORE_BLOCK_MAGIC, STORE_MAGIC_BYTES);
	store_format_block((uint8_t *)b->out.data, &head, b->streams, b->salt);
	return entry;
}

void store_build_init(struct store_build *b, const struct store_schema *schema, uint64_t salt)
{
	b->schema = schema;
	b->salt = salt;
	b->encoder = (struct store_encoder){ 0 };
	b->stream_count = 0;
	for (unsigned c = 0; c < schema->count; c++)
		b->stream_count += store_kind_streams(schema->columns[c].kind);
	b->gather = (struct store_gather){ .schema = schema };
	for (unsigned c = 0; c < schema->count; c++) {
		if (schema->columns[c].kind == STORE_REAL)
			b->gather.has_reals = 1;
		b->gather.is_real[b->gather.special_count] = schema->columns[c].kind == STORE_REAL;
		if (schema->columns[c].kind != STORE_INT)
			b->gather.special[b->gather.special_count++] = c;
		buf_init(&b->gather.texts[c], STORE_BLOCK_TEXT_MAX + 1);
	}
	buf_init(&b->out, 0);
}

void store_build_release(struct store_build *b)
{
	for (unsigned c = 0; c < b->gather.schema->count; c++) {
		free(b->gather.memory[c]);
		buf_release(&b->gather.texts[c]);
	}
	store_encoder_release(&b->encoder);
	buf_release(&b->out);
}
