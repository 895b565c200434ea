/*
 * Loading blocks into batches.
 *
 * Memory grows to what blocks need and is kept. A column that is constant in all rows, or missing, is filled in once
 * and not again while the next blocks have the same constant.
 */
#include "store/codec.h"
#include "store/hash.h"
#include "store/table-private.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct memory {
	void *at; /* 64-byte aligned */
	size_t cap;
};

struct column_memory {
	struct memory numbers; /* of TEXT: lengths */
	struct memory texts;
	struct memory bytes;
	size_t filled_rows; /* numbers[0..filled_rows) are all filled_with */
	int64_t filled_with;
};

struct store_batch_memory {
	struct store_decoder decoder;
	struct column_memory columns[STORE_COLUMNS_MAX];
};

/* A block with a validated header. */
struct block {
	const struct store_block_info *info;
	struct store_block_head head;
	struct store_stream streams[STORE_STREAMS_MAX];
	const uint8_t *payloads[STORE_STREAMS_MAX];
};

static void *need(struct memory *m, size_t bytes)
{
	size_t cap = (bytes + 64) & ~(size_t)63; /* never 0: an empty text still has an address */

	if (m->cap < cap) {
		free(m->at);
		m->at = aligned_alloc(64, cap);
		m->cap = m->at ? cap : 0;
	}
	return m->at;
}

void store_batch_release(struct store_batch *b)
{
	if (b->memory) {
		for (size_t c = 0; c < STORE_COLUMNS_MAX; c++) {
			free(b->memory->columns[c].numbers.at);
			free(b->memory->columns[c].texts.at);
			free(b->memory->columns[c].bytes.at);
		}
		store_decoder_release(&b->memory->decoder);
		free(b->memory);
	}
	*b = (struct store_batch)STORE_BATCH_INIT;
}

static bool open_block(const struct store_table *t, size_t number, struct block *b)
{
	const uint8_t *at = t->bytes + t->blocks[number].offset;
	uint64_t text_bytes = 0;

	b->info = &t->blocks[number];
	if (!store_parse_block(at, b->info->bytes, &t->file, &b->head, b->streams))
		return false;
	if (b->head.rows != b->info->rows || b->head.number != b->info->number ||
			b->head.first_row != b->info->first_row ||
			b->head.bytes + b->head.payload_bytes != b->info->bytes)
		return false;
	at += b->head.bytes;
	for (unsigned i = 0; i < t->file.streams; i++) {
		b->payloads[i] = at;
		at += b->streams[i].bytes;
		if (b->streams[i].encoding != STORE_BYTES)
			continue;
		if (b->streams[i].first > STORE_BLOCK_TEXT_MAX - text_bytes)
			return false;
		text_bytes += b->streams[i].first;
	}
	return true;
}

static int64_t *fill_numbers(struct column_memory *m, size_t rows, int64_t value)
{
	int64_t *numbers = need(&m->numbers, rows * sizeof(*numbers));

	if (!numbers || (m->filled_rows >= rows && m->filled_with == value))
		return numbers;
	for (size_t i = 0; i < rows; i++)
		numbers[i] = value;
	m->filled_rows = rows;
	m->filled_with = value;
	return numbers;
}

static bool payload_holds(const struct store_table *t, const struct block *b, unsigned stream)
{
	const struct store_stream *s = &b->streams[stream];

	return s->hash == store_hash(b->payloads[stream], s->bytes, t->file.salt);
}

static int load_numbers(const struct store_table *t, const struct block *b, unsigned stream,
		struct store_decoder *decoder, struct column_memory *m)
{
	const struct store_stream *s = &b->streams[stream];
	size_t rows = b->head.rows;
	int64_t *numbers;

	if (!payload_holds(t, b, stream))
		return -EBADMSG;
	if (s->encoding == STORE_CONSTANT && s->bytes == 0)
		return fill_numbers(m, rows, (int64_t)s->first) ? 0 : -ENOMEM;
	m->filled_rows = 0;
	numbers = need(&m->numbers, rows * sizeof(*numbers));
	if (!numbers)
		return -ENOMEM;
	return store_decode_numbers(decoder, s, b->payloads[stream], rows, numbers);
}

/* Split bytes into texts by their lengths; the lengths must add up to the number of bytes. */
static int cut_texts(const int64_t *lengths, size_t rows, const char *bytes, uint64_t total, struct store_text *texts)
{
	uint64_t at = 0;

	for (size_t i = 0; i < rows; i++) {
		if (lengths[i] == STORE_NULL) {
			texts[i] = (struct store_text){ .data = NULL };
			continue;
		}
		if (lengths[i] < 0 || (uint64_t)lengths[i] > total - at)
			return -EBADMSG;
		texts[i] = (struct store_text){ .data = bytes + at, .bytes = (size_t)lengths[i] };
		at += (uint64_t)lengths[i];
	}
	return at == total ? 0 : -EBADMSG;
}

static int load_texts(const struct store_table *t, const struct block *b, unsigned stream,
		struct store_decoder *decoder, struct column_memory *m)
{
	const struct store_stream *s = &b->streams[stream + 1];
	size_t rows = b->head.rows;
	uint8_t *bytes;
	int rc = load_numbers(t, b, stream, decoder, m);

	if (rc < 0)
		return rc;
	if (s->encoding != STORE_BYTES || !payload_holds(t, b, stream + 1))
		return -EBADMSG;
	bytes = need(&m->bytes, s->first);
	if (!bytes || !need(&m->texts, rows * sizeof(struct store_text)))
		return -ENOMEM;
	rc = store_decode_bytes(decoder, s, b->payloads[stream + 1], bytes);
	return rc < 0 ? rc : cut_texts(m->numbers.at, rows, (const char *)bytes, s->first, m->texts.at);
}

/* A column that is not in the file. */
static int load_nulls(enum store_kind kind, size_t rows, struct column_memory *m)
{
	double real = STORE_NULL_REAL;
	int64_t null = STORE_NULL;
	void *texts;

	if (kind == STORE_TEXT) {
		texts = need(&m->texts, rows * sizeof(struct store_text));
		if (!texts)
			return -ENOMEM;
		memset(texts, 0, rows * sizeof(struct store_text));
		return 0;
	}
	if (kind == STORE_REAL)
		memcpy(&null, &real, sizeof(null));
	return fill_numbers(m, rows, null) ? 0 : -ENOMEM;
}

static int load_column(const struct store_table *t, const struct block *b, int c, struct store_batch *batch)
{
	enum store_kind kind = t->schema->columns[c].kind;
	struct column_memory *m = &batch->memory->columns[c];
	struct store_column *out = &batch->columns[c];
	int rc;

	if (t->stream_of[c] < 0)
		rc = load_nulls(kind, b->head.rows, m);
	else if (kind == STORE_TEXT)
		rc = load_texts(t, b, (unsigned)t->stream_of[c], &batch->memory->decoder, m);
	else
		rc = load_numbers(t, b, (unsigned)t->stream_of[c], &batch->memory->decoder, m);
	if (rc < 0)
		return rc;
	out->ints = kind == STORE_INT ? m->numbers.at : NULL;
	out->reals = kind == STORE_REAL ? m->numbers.at : NULL;
	out->texts = kind == STORE_TEXT ? m->texts.at : NULL;
	return 0;
}

static int load_columns(const struct store_table *t, const struct block *b, const int *cols, size_t ncols,
		struct store_batch *batch)
{
	size_t n = cols ? ncols : t->schema->count;

	for (size_t i = 0; i < n; i++) {
		int rc = load_column(t, b, cols ? cols[i] : (int)i, batch);

		if (rc < 0)
			return rc;
	}
	return 0;
}

int store_block_load(struct store_table *t, size_t block, const int *cols, size_t ncols, struct store_batch *batch,
		struct sonde_err *err)
{
	struct block b;
	int rc = -EBADMSG;

	if (!batch->memory)
		batch->memory = calloc(1, sizeof(*batch->memory));
	if (!batch->memory)
		return err_sys(err, ENOMEM, "cannot read the table '%s'", t->name);
	memset(batch->columns, 0, sizeof(batch->columns));
	batch->rows = 0;
	batch->schema = t->schema;
	if (open_block(t, block, &b))
		rc = load_columns(t, &b, cols, ncols, batch);
	if (rc == -EBADMSG) {
		store_table_damage(t, block);
		return err_set(err, EBADMSG, "block %" PRIu64 " of the table '%s' is damaged", t->blocks[block].number,
				t->name);
	}
	if (rc < 0)
		return err_sys(err, -rc, "cannot read the table '%s'", t->name);
	batch->rows = b.head.rows;
	batch->block = block;
	batch->first_row = b.head.first_row;
	return 0;
}

void store_batch_row(const struct store_batch *b, size_t i, void *row)
{
	char *field = row;

	for (unsigned c = 0; c < b->schema->count; c++, field += 8) {
		const struct store_column *column = &b->columns[c];
		enum store_kind kind = b->schema->columns[c].kind;
		int64_t number = column->ints ? column->ints[i] : STORE_NULL;
		double real = column->reals ? column->reals[i] : STORE_NULL_REAL;
		const struct store_text *text = column->texts && column->texts[i].data ? &column->texts[i] : NULL;

		if (kind == STORE_TEXT)
			memcpy(field, &text, sizeof(text));
		else
			memcpy(field, kind == STORE_REAL ? (const void *)&real : (const void *)&number, 8);
	}
}
