/*
 * Tables come back as they were written: whole, a few columns, by other schemas, by many threads, in a range of time.
 */
#include "tables.h"

#include "store/format.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct store_table *open_every(const struct scratch *s)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct store_table *t;

	if (store_table_open(&t, s->dirfd, "every", &err) < 0)
		fail_msg("%s", err.text);
	return t;
}

static void assert_nothing_lost(struct store_table *t)
{
	struct store_loss loss;

	store_table_loss(t, &loss);
	assert_string_equal(loss.text, "");
	assert_int_equal(loss.blocks + loss.rows + loss.bytes, 0);
	assert_false(loss.is_open);
}

static void full_and_partial_blocks_come_back(void **state)
{
	struct scratch s;
	struct store_writer *w;
	struct store_table *t;

	(void)state;
	scratch_make(&s);
	assert_int_equal(store_writer_open(&w, s.dirfd, &every_schema, NULL), 0);
	every_add(w, 0, STORE_BLOCK_ROWS + 10);
	assert_int_equal(store_writer_pending(w), 10);
	assert_int_equal(store_writer_flush(w, NULL), 0);
	assert_int_equal(store_writer_flush(w, NULL), 0);
	every_add(w, STORE_BLOCK_ROWS + 10, 1);
	assert_int_equal(store_writer_rows(w), STORE_BLOCK_ROWS + 11);
	assert_int_equal(store_writer_close(w, NULL), 0);
	t = open_every(&s);
	assert_int_equal(store_table_blocks(t), 3);
	assert_int_equal(store_table_rows(t), STORE_BLOCK_ROWS + 11);
	assert_int_equal(store_block_info(t, 0)->rows, STORE_BLOCK_ROWS);
	assert_int_equal(store_block_info(t, 2)->rows, 1);
	assert_int_equal(every_read(t), STORE_BLOCK_ROWS + 11);
	assert_nothing_lost(t);
	store_table_free(t);
	scratch_remove(&s);
}

static void an_empty_table_is_fine(void **state)
{
	struct scratch s;
	struct store_table *t;

	(void)state;
	scratch_make(&s);
	every_write(&s, 0, 0);
	t = open_every(&s);
	assert_int_equal(store_table_blocks(t), 0);
	assert_int_equal(every_read(t), 0);
	assert_int_equal(store_table_check(t, NULL), 0);
	assert_nothing_lost(t);
	store_table_free(t);
	scratch_remove(&s);
}

static void only_the_columns_asked_for_are_loaded(void **state)
{
	static const int cols[] = { EVERY_text, EVERY_wild };
	struct store_batch batch = STORE_BATCH_INIT;
	struct every row;
	struct scratch s;
	struct store_table *t;

	(void)state;
	scratch_make(&s);
	every_write(&s, 2, 100);
	t = open_every(&s);
	assert_int_equal(store_block_load(t, 1, cols, 2, &batch, NULL), 0);
	assert_int_equal(batch.rows, 100);
	assert_int_equal(batch.first_row, 100);
	every_check(&batch);
	for (int c = 0; c < (int)every_schema.count; c++) {
		const struct store_column *column = &batch.columns[c];
		bool is_loaded = column->ints || column->reals || column->texts;

		assert_int_equal(is_loaded, c == EVERY_text || c == EVERY_wild);
	}
	assert_int_equal((uintptr_t)batch.columns[EVERY_wild].ints % 64, 0);
	store_batch_row(&batch, 5, &row);
	assert_true(row.ts_ns == STORE_NULL && isnan(row.real) && row.label == NULL);
	assert_true(row.wild == batch.columns[EVERY_wild].ints[5]);
	store_batch_release(&batch);
	store_table_free(t);
	scratch_remove(&s);
}

static void rows_are_read_as_structs(void **state)
{
	struct store_batch batch = STORE_BATCH_INIT;
	struct scratch s;
	struct store_table *t;

	(void)state;
	scratch_make(&s);
	every_write(&s, 1, 200);
	t = open_every(&s);
	assert_int_equal(store_block_load(t, 0, NULL, 0, &batch, NULL), 0);
	for (size_t i = 0; i < 200; i++) {
		struct every_memory mem;
		struct every got, wanted;

		every_make(i, &wanted, &mem);
		store_batch_row(&batch, i, &got);
		assert_memory_equal(&got, &wanted, offsetof(struct every, text));
		assert_int_equal(!got.text, !wanted.text);
		assert_int_equal(got.label->bytes, 10);
	}
	store_batch_release(&batch);
	store_table_free(t);
	scratch_remove(&s);
}

static void every_nan_is_null(void **state)
{
	struct store_step rows[4] = { store_step_nulls, store_step_nulls, store_step_nulls, store_step_nulls };
	struct store_batch batch = STORE_BATCH_INIT;
	struct scratch s;
	struct store_writer *w;
	struct store_table *t;
	double null = STORE_NULL_REAL;

	(void)state;
	rows[1].value = -NAN;
	rows[2].value = __builtin_nan("0x123");
	rows[3].value = -0.0;
	scratch_make(&s);
	assert_int_equal(store_writer_open(&w, s.dirfd, &store_step_schema, NULL), 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(store_add_step(w, &rows[i], NULL), 0);
	assert_int_equal(store_writer_close(w, NULL), 0);
	assert_int_equal(store_table_open(&t, s.dirfd, "step", NULL), 0);
	assert_int_equal(store_block_load(t, 0, NULL, 0, &batch, NULL), 0);
	for (int i = 0; i < 3; i++)
		assert_memory_equal(&batch.columns[STORE_STEP_value].reals[i], &null, sizeof(null));
	assert_true(signbit(batch.columns[STORE_STEP_value].reals[3]));
	assert_true(batch.columns[STORE_STEP_index].ints[0] == STORE_NULL);
	store_batch_release(&batch);
	store_table_free(t);
	scratch_remove(&s);
}

/* Another version of the table `step`: without `pid` and `value`, tid a REAL, and with a column of its own. */
static void write_other_step(const struct scratch *s)
{
	static const struct store_column_schema columns[] = {
		{ .name = "later", .kind = STORE_TEXT },
		{ .name = "name", .kind = STORE_INT },
		{ .name = "tid", .kind = STORE_REAL },
		{ .name = "ts_ns", .kind = STORE_INT, .semantic = STORE_TIME },
	};
	static const struct store_schema schema = { .name = "step", .version = 9, .count = 4, .columns = columns };
	struct store_text later = { .data = "x", .bytes = 1 };
	struct {
		const struct store_text *later;
		int64_t name;
		double tid;
		int64_t ts_ns;
	} row = { .later = &later, .name = 5, .tid = 1.5, .ts_ns = 77 };
	struct store_writer *w;

	assert_int_equal(store_writer_open(&w, s->dirfd, &schema, NULL), 0);
	for (int i = 0; i < 10; i++, row.ts_ns++)
		assert_int_equal(store_writer_add(w, &row, NULL), 0);
	assert_int_equal(store_writer_close(w, NULL), 0);
}

static void columns_are_matched_by_name(void **state)
{
	struct store_batch batch = STORE_BATCH_INIT;
	struct store_step row;
	struct scratch s;
	struct store_table *t;

	(void)state;
	scratch_make(&s);
	write_other_step(&s);
	assert_int_equal(store_table_open(&t, s.dirfd, "step", NULL), 0);
	assert_ptr_equal(store_table_schema(t), &store_step_schema);
	assert_int_equal(store_block_load(t, 0, NULL, 0, &batch, NULL), 0);
	store_get_step(&batch, 9, &row);
	assert_true(row.name == 5 && row.ts_ns == 86);
	assert_true(row.pid == STORE_NULL && row.tid == STORE_NULL && isnan(row.value));
	store_batch_release(&batch);
	store_table_free(t);
	scratch_remove(&s);
}

static void an_unknown_table_shows_its_own_columns(void **state)
{
	struct scratch s;
	struct store_table *t;

	(void)state;
	scratch_make(&s);
	every_write(&s, 1, 3);
	t = open_every(&s);
	assert_string_equal(store_table_schema(t)->name, "every");
	assert_int_equal(store_table_schema(t)->count, every_schema.count);
	for (unsigned c = 0; c < every_schema.count; c++) {
		assert_string_equal(store_table_schema(t)->columns[c].name, every_schema.columns[c].name);
		assert_int_equal(store_table_schema(t)->columns[c].kind, every_schema.columns[c].kind);
	}
	store_table_free(t);
	scratch_remove(&s);
}

/* Sums by block; merged in the order of blocks. */
struct sums {
	size_t count;
	uint64_t by_block[64];
	unsigned calls[64];
};

static int sum_block(void *arg, unsigned worker, size_t block, const struct store_batch *batch)
{
	struct sums *sums = arg;

	assert_true(block < sums->count && worker < 8);
	every_check(batch);
	sums->calls[block]++;
	for (size_t i = 0; i < batch->rows; i++)
		sums->by_block[block] += (uint64_t)batch->columns[EVERY_wild].ints[i];
	return 0;
}

static void parallel_scans_equal_serial_ones(void **state)
{
	static const int cols[] = { EVERY_wild, EVERY_text };
	struct sums serial = { .count = 40 };
	struct scratch s;
	struct store_table *t;

	(void)state;
	scratch_make(&s);
	every_write(&s, 40, 777);
	t = open_every(&s);
	for (unsigned threads = 1; threads <= 8; threads++) {
		struct store_scan_opts opts = { .cols = cols, .ncols = 2, .threads = threads };
		struct sums sums = { .count = 40 };

		assert_int_equal(store_scan_workers(t, &opts), threads);
		assert_int_equal(store_scan(t, &opts, sum_block, &sums, NULL), 0);
		if (threads == 1)
			serial = sums;
		assert_memory_equal(&sums, &serial, sizeof(sums));
	}
	for (size_t i = 0; i < 40; i++)
		assert_int_equal(serial.calls[i], 1);
	store_table_free(t);
	scratch_remove(&s);
}

static int stop_at_three(void *arg, unsigned worker, size_t block, const struct store_batch *batch)
{
	(void)worker, (void)batch;
	*(unsigned *)arg += 1;
	return block == 3 ? 17 : 0;
}

static void a_scan_ends_when_told(void **state)
{
	struct store_scan_opts opts = { .threads = 1 };
	unsigned calls = 0;
	struct scratch s;
	struct store_table *t;

	(void)state;
	scratch_make(&s);
	every_write(&s, 10, 5);
	t = open_every(&s);
	assert_int_equal(store_scan(t, &opts, stop_at_three, &calls, NULL), 17);
	assert_int_equal(calls, 4);
	opts.threads = 4;
	assert_int_equal(store_scan(t, &opts, stop_at_three, &calls, NULL), 17);
	store_table_free(t);
	scratch_remove(&s);
}

static int note_block(void *arg, unsigned worker, size_t block, const struct store_batch *batch)
{
	(void)worker, (void)batch;
	*(uint64_t *)arg |= (uint64_t)1 << block;
	return 0;
}

/* Blocks of 10 rows, one a 1000 ns from 0; the first row of block 3 lasts for 25 000 ns. */
static void write_times(const struct scratch *s)
{
	struct store_io row = store_io_nulls;
	struct store_writer *w;

	assert_int_equal(store_writer_open(&w, s->dirfd, &store_io_schema, NULL), 0);
	for (int64_t i = 0; i < 100; i++) {
		row.ts_ns = i * 1000;
		row.dur_ns = i == 30 ? 25000 : i % 2 ? 5 : STORE_NULL;
		assert_int_equal(store_add_io(w, &row, NULL), 0);
		if (i % 10 == 9)
			assert_int_equal(store_writer_flush(w, NULL), 0);
	}
	assert_int_equal(store_writer_close(w, NULL), 0);
}

static uint64_t blocks_in(struct store_table *t, int64_t from, int64_t to)
{
	struct store_scan_opts opts = { .threads = 1, .has_range = true, .from_ns = from, .to_ns = to };
	uint64_t blocks = 0;

	assert_int_equal(store_scan(t, &opts, note_block, &blocks, NULL), 0);
	return blocks;
}

static void zone_maps_leave_blocks_out(void **state)
{
	struct scratch s;
	struct store_table *t;

	(void)state;
	scratch_make(&s);
	write_times(&s);
	assert_int_equal(store_table_open(&t, s.dirfd, "io", NULL), 0);
	assert_int_equal(store_block_info(t, 3)->time_min_ns, 30000);
	assert_int_equal(store_block_info(t, 3)->time_max_ns, 39000);
	assert_int_equal(store_block_info(t, 3)->dur_max_ns, 25000);
	assert_int_equal(blocks_in(t, INT64_MIN, INT64_MAX), 0x3ff);
	assert_int_equal(blocks_in(t, 0, 0), 0x1);
	assert_int_equal(blocks_in(t, 9000, 10000), 0x3);
	assert_int_equal(blocks_in(t, 50000, 50500), 0x28); /* block 5, and the long row of block 3 may reach it */
	assert_int_equal(blocks_in(t, 99006, INT64_MAX), 0);
	assert_int_equal(blocks_in(t, -5, -1), 0);
	store_table_free(t);
	scratch_remove(&s);
}

static void blocks_without_times_are_always_in_range(void **state)
{
	struct store_io row = store_io_nulls;
	struct scratch s;
	struct store_writer *w;
	struct store_table *t;

	(void)state;
	scratch_make(&s);
	assert_int_equal(store_writer_open(&w, s.dirfd, &store_io_schema, NULL), 0);
	assert_int_equal(store_add_io(w, &row, NULL), 0);
	assert_int_equal(store_writer_close(w, NULL), 0);
	assert_int_equal(store_table_open(&t, s.dirfd, "io", NULL), 0);
	assert_true(store_block_info(t, 0)->time_min_ns == STORE_NULL);
	assert_int_equal(blocks_in(t, 5, 6), 1);
	store_table_free(t);
	scratch_remove(&s);
}

static void a_batch_serves_many_tables(void **state)
{
	struct store_batch batch = STORE_BATCH_INIT;
	struct store_table *every, *io;
	struct scratch s;

	(void)state;
	scratch_make(&s);
	every_write(&s, 3, 50);
	write_times(&s);
	every = open_every(&s);
	assert_int_equal(store_table_open(&io, s.dirfd, "io", NULL), 0);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(store_block_load(every, i, NULL, 0, &batch, NULL), 0);
		every_check(&batch);
		assert_int_equal(store_block_load(io, i, NULL, 0, &batch, NULL), 0);
		assert_int_equal(batch.columns[STORE_IO_ts_ns].ints[0], i * 10000);
		assert_true(batch.columns[STORE_IO_fd].ints[9] == STORE_NULL);
		assert_null(batch.columns[STORE_IO_text].texts[9].data);
	}
	store_batch_release(&batch);
	store_table_free(every);
	store_table_free(io);
	scratch_remove(&s);
}

static void a_live_table_shows_what_was_flushed(void **state)
{
	struct scratch s;
	struct store_writer *w;
	struct store_table *t;
	struct store_loss loss;

	(void)state;
	scratch_make(&s);
	assert_int_equal(store_writer_open(&w, s.dirfd, &every_schema, NULL), 0);
	every_add(w, 0, 30);
	assert_int_equal(store_writer_flush(w, NULL), 0);
	every_add(w, 30, 5);
	t = open_every(&s);
	assert_int_equal(every_read(t), 30);
	store_table_loss(t, &loss);
	assert_true(loss.is_open);
	assert_int_equal(loss.rows + loss.bytes + loss.blocks, 0);
	assert_string_not_equal(loss.text, "");
	store_table_free(t);
	assert_int_equal(store_writer_close(w, NULL), 0);
	scratch_remove(&s);
}

static void what_is_no_table_is_refused_with_words(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct scratch s;
	struct store_table *t;

	(void)state;
	scratch_make(&s);
	assert_int_equal(store_table_open(&t, s.dirfd, "absent", &err), -ENOENT);
	assert_non_null(strstr(err.text, "absent.tbl"));
	scratch_write(&s, "empty.tbl", "", 0);
	assert_int_equal(store_table_open(&t, s.dirfd, "empty", &err), -EBADMSG);
	scratch_write(&s, "junk.tbl", "this is no table at all, but it is long enough to be one", 56);
	assert_int_equal(store_table_open(&t, s.dirfd, "junk", &err), -EBADMSG);
	assert_non_null(strstr(err.text, "junk"));
	scratch_remove(&s);
}

static void every_known_table_can_be_written(void **state)
{
	struct scratch s;

	(void)state;
	scratch_make(&s);
	for (size_t i = 0; i < STORE_TABLE_COUNT; i++) {
		const struct store_schema *schema = store_schemas[i];
		struct store_writer *w;
		struct store_table *t;

		assert_ptr_equal(store_schema_find(schema->name), schema);
		assert_int_equal(store_writer_open(&w, s.dirfd, schema, NULL), 0);
		assert_int_equal(store_writer_close(w, NULL), 0);
		assert_int_equal(store_table_open(&t, s.dirfd, schema->name, NULL), 0);
		assert_ptr_equal(store_table_schema(t), schema);
		for (unsigned c = 0; c < schema->count; c++)
			assert_true(*schema->columns[c].doc);
		store_table_free(t);
	}
	assert_null(store_schema_find("none"));
	assert_int_equal(store_schema_column(&store_io_schema, "offset"), STORE_IO_offset);
	scratch_remove(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_and_partial_blocks_come_back),
		cmocka_unit_test(an_empty_table_is_fine),
		cmocka_unit_test(only_the_columns_asked_for_are_loaded),
		cmocka_unit_test(rows_are_read_as_structs),
		cmocka_unit_test(every_nan_is_null),
		cmocka_unit_test(columns_are_matched_by_name),
		cmocka_unit_test(an_unknown_table_shows_its_own_columns),
		cmocka_unit_test(parallel_scans_equal_serial_ones),
		cmocka_unit_test(a_scan_ends_when_told),
		cmocka_unit_test(zone_maps_leave_blocks_out),
		cmocka_unit_test(blocks_without_times_are_always_in_range),
		cmocka_unit_test(a_batch_serves_many_tables),
		cmocka_unit_test(a_live_table_shows_what_was_flushed),
		cmocka_unit_test(what_is_no_table_is_refused_with_words),
		cmocka_unit_test(every_known_table_can_be_written),
	};

	return RUN_TESTS(tests);
}
