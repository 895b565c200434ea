#include "store/block-builder.h"

#include "store/hash.h"

#include <errno.h>
#include <string.h>

static void note_zone(struct store_build *b, enum store_semantic semantic, const struct store_range *range)
{
	if (semantic == STORE_TIME && !b->has_time) {
		b->has_time = true;
		b->time = *range;
	}
	if (semantic == STORE_DURATION && !b->has_dur) {
		b->has_dur = true;
		b->dur = *range;
	}
}

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
	note_zone(b, column->semantic, &range);
	return rc;
}

static void seal_stream(struct store_build *b, struct store_stream *s, size_t from)
{
	s->bytes = (uint32_t)(b->out.len - from);
	s->hash = store_hash(b->out.data + from, s->bytes, b->salt);
}

static int encode_columns(struct store_build *b)
{
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

static void put_head(struct store_build *b, const struct store_entry *e)
{
	uint32_t head_bytes = (uint32_t)store_block_head_bytes(b->stream_count);
	struct store_block_head head = {
		.bytes = head_bytes,
		.rows = (uint32_t)e->rows,
		.payload_bytes = e->bytes - head_bytes,
		.number = e->number,
		.first_row = e->first_row,
		.time_min_ns = e->time_min_ns,
		.time_max_ns = e->time_max_ns,
		.dur_max_ns = e->dur_max_ns,
		.streams = b->stream_count,
	};

	memcpy(head.magic, STORE_BLOCK_MAGIC, STORE_MAGIC_BYTES);
	store_format_block((uint8_t *)b->out.data, &head, b->streams, b->salt);
}

int store_build_encode(struct store_build *b)
{
	size_t head_bytes = store_block_head_bytes(b->stream_count);

	b->has_time = b->has_dur = false;
	buf_reset(&b->out);
	if (!buf_room(&b->out, head_bytes))
		return -ENOMEM;
	b->out.len += head_bytes;
	return encode_columns(b);
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

	put_head(b, &entry);
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
	store_gather_init(&b->gather, schema);
	buf_init(&b->out, 0);
}

void store_build_release(struct store_build *b)
{
	store_gather_release(&b->gather);
	store_encoder_release(&b->encoder);
	buf_release(&b->out);
}
