/*
 * See tables.h.
 */
#include "tables.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void scratch_make(struct scratch *s)
{
	snprintf(s->path, sizeof(s->path), "/tmp/sonde-test-XXXXXX");
	assert_non_null(mkdtemp(s->path));
	s->dirfd = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(s->dirfd >= 0);
}

void scratch_remove(struct scratch *s)
{
	close(s->dirfd);
	assert_int_equal(fs_remove_tree(AT_FDCWD, s->path), 0);
}

void scratch_read(const struct scratch *s, const char *file, struct buf *out)
{
	buf_reset(out);
	assert_int_equal(fs_read_file(s->dirfd, file, (size_t)1 << 30, out, NULL), 0);
}

void scratch_write(const struct scratch *s, const char *file, const void *bytes, size_t n)
{
	assert_int_equal(fs_replace_file(s->dirfd, file, bytes, n, NULL), 0);
}

static const struct store_column_schema every_columns[] = {
	{ .name = "ts_ns", .kind = STORE_INT, .semantic = STORE_TIME },
	{ .name = "dur_ns", .kind = STORE_INT, .semantic = STORE_DURATION },
	{ .name = "number", .kind = STORE_INT, .semantic = STORE_COUNT },
	{ .name = "wild", .kind = STORE_INT, .semantic = STORE_PLAIN },
	{ .name = "rare", .kind = STORE_INT, .semantic = STORE_PLAIN },
	{ .name = "fixed", .kind = STORE_INT, .semantic = STORE_PLAIN },
	{ .name = "real", .kind = STORE_REAL, .semantic = STORE_PLAIN },
	{ .name = "text", .kind = STORE_TEXT, .semantic = STORE_PLAIN },
	{ .name = "label", .kind = STORE_TEXT, .semantic = STORE_PLAIN },
};
const struct store_schema every_schema = { .name = "every", .version = 1, .count = 9, .columns = every_columns };

static uint64_t mix(uint64_t n)
{
	n = (n ^ n >> 31) * 0x9e3779b97f4a7c15u;
	n = (n ^ n >> 29) * 0xbf58476d1ce4e5b9u;
	return n ^ n >> 32;
}

static int64_t wild_value(uint64_t n)
{
	static const int64_t extremes[] = { INT64_MAX, INT64_MIN + 1, 0, -1, 1, STORE_NULL };
	uint64_t r = mix(n);

	return r % 3 ? (int64_t)(r >> (r >> 58)) : extremes[r / 3 % 6];
}

static const struct store_text *text_value(uint64_t n, struct every_memory *mem)
{
	uint64_t r = mix(n + 77);

	if (r % 4 == 0)
		return NULL;
	mem->texts[0].data = mem->bytes;
	mem->texts[0].bytes = r % 5 == 0 ? 0
					 : (size_t)snprintf(mem->bytes, sizeof(mem->bytes), "row %llu %llx",
							   (unsigned long long)n, (unsigned long long)r);
	return &mem->texts[0];
}

void every_make(uint64_t n, struct every *row, struct every_memory *mem)
{
	uint64_t r = mix(n + 1);

	mem->texts[1] = (struct store_text){ .data = "same\0label", .bytes = 10 };
	*row = (struct every){
		.ts_ns = 1000000 + (int64_t)(n * 1000 + r % 900),
		.dur_ns = r % 11 == 0 ? STORE_NULL : (int64_t)(r >> 10 & 0xfff),
		.number = (int64_t)n,
		.wild = wild_value(n),
		.rare = n % 13 == 5 ? 42 : STORE_NULL,
		.fixed = -7,
		.real = r % 9 == 0 ? STORE_NULL_REAL : (double)(int64_t)r / 3.0,
		.text = text_value(n, mem),
		.label = &mem->texts[1],
	};
}

void every_add(struct store_writer *w, uint64_t from, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct every_memory mem;
		struct every row;

		every_make(from + i, &row, &mem);
		assert_int_equal(store_writer_add(w, &row, NULL), 0);
	}
}

void every_write(const struct scratch *s, size_t blocks, size_t rows)
{
	struct store_writer *w;

	assert_int_equal(store_writer_open(&w, s->dirfd, &every_schema, NULL), 0);
	for (size_t i = 0; i < blocks; i++) {
		every_add(w, i * rows, rows);
		assert_int_equal(store_writer_flush(w, NULL), 0);
	}
	assert_int_equal(store_writer_close(w, NULL), 0);
}

static void check_int(const struct store_batch *b, int col, size_t i, int64_t wanted)
{
	if (b->columns[col].ints && b->columns[col].ints[i] != wanted)
		fail_msg("row %zu of column %d is %lld, not %lld", i, col, (long long)b->columns[col].ints[i],
				(long long)wanted);
}

static void check_text(const struct store_batch *b, int col, size_t i, const struct store_text *wanted)
{
	const struct store_text *got = b->columns[col].texts;

	if (!got)
		return;
	got += i;
	if (!wanted) {
		assert_null(got->data);
		return;
	}
	assert_non_null(got->data);
	assert_int_equal(got->bytes, wanted->bytes);
	assert_memory_equal(got->data, wanted->data, wanted->bytes);
}

void every_check(const struct store_batch *b)
{
	for (size_t i = 0; i < b->rows; i++) {
		struct every_memory mem;
		struct every row;

		every_make(b->first_row + i, &row, &mem);
		check_int(b, EVERY_ts_ns, i, row.ts_ns);
		check_int(b, EVERY_dur_ns, i, row.dur_ns);
		check_int(b, EVERY_number, i, row.number);
		check_int(b, EVERY_wild, i, row.wild);
		check_int(b, EVERY_rare, i, row.rare);
		check_int(b, EVERY_fixed, i, row.fixed);
		if (b->columns[EVERY_real].reals)
			assert_memory_equal(&b->columns[EVERY_real].reals[i], &row.real, sizeof(double));
		check_text(b, EVERY_text, i, row.text);
		check_text(b, EVERY_label, i, row.label);
	}
}

uint64_t every_read(struct store_table *t)
{
	struct store_batch batch = STORE_BATCH_INIT;
	uint64_t rows = 0;

	for (size_t i = 0; i < store_table_blocks(t); i++) {
		int rc = store_block_load(t, i, NULL, 0, &batch, NULL);

		assert_true(rc == 0 || rc == -EBADMSG);
		every_check(&batch);
		rows += batch.rows;
	}
	store_batch_release(&batch);
	return rows;
}
