/*
 * Sums by call and by path: they add up to what the rows hold, of a window and of copies too.
 */
#include "bundle.h"

#include "engine/call-sums.h"

#include <string.h>

enum { CALLS = 5, FILES = 40, PATHS = 7, ROWS = 20000 };

struct sum {
	uint64_t calls, errors, bytes;
	int64_t total_ns;
};

static struct sum by_call[CALLS], by_path[PATHS];
static const struct engine_run_opts every_row;

static void count(struct sum *s, const struct store_io *row)
{
	s->calls++;
	s->errors += row->errnum > 0;
	s->bytes += row->ret > 0 ? (uint64_t)row->ret : 0;
	s->total_ns += row->dur_ns == STORE_NULL ? 0 : row->dur_ns;
}

/* A call that returns the number of bytes. */
static int64_t bundle_call(struct bundle *b, const char *name)
{
	struct store_call row = store_call_nulls;

	row.call = bundle_name(b, name);
	row.bytes_from = bundle_name(b, "result");
	store_sink_add(&b->sink, STORE_TABLE_CALL, &row);
	return row.call;
}

static void add_rows(struct bundle *b, const int64_t *calls)
{
	for (int i = 0; i < ROWS; i++) {
		size_t call = random_below(CALLS), file = random_below(FILES + 1);
		struct store_io row = store_io_nulls;

		row.ts_ns = i;
		row.dur_ns = random_below(10) ? (int64_t)random_below(1000) : STORE_NULL;
		row.call = calls[call];
		row.file = file < FILES ? (int64_t)file + 1 : STORE_NULL;
		row.size = 100;
		row.ret = (int64_t)random_below(102) - 1;
		row.errnum = row.ret < 0 ? 2 : 0;
		store_sink_add(&b->sink, STORE_TABLE_IO, &row);
		count(&by_call[call], &row);
		if (file < FILES)
			count(&by_path[file % PATHS], &row);
	}
}

static void is_sum(const struct call_sum *t, const struct sum *want)
{
	assert_int_equal(t->calls, want->calls);
	assert_int_equal(t->errors, want->errors);
	assert_int_equal(t->bytes, want->bytes);
	assert_int_equal(t->total_ns, want->total_ns);
}

static void sums_are_right(void **state)
{
	struct bundle b;
	struct model_run *run;
	struct call_sums totals;
	int64_t calls[CALLS];

	(void)state;
	random_init();
	bundle_make(&b);
	for (int i = 0; i < CALLS; i++)
		calls[i] = bundle_call(&b, (const char *[]){ "call0", "call1", "call2", "call3", "call4" }[i]);
	for (int i = 0; i < FILES; i++)
		bundle_file(&b, i + 1, STORE_NULL,
				(const char *[]){ "/p0", "/p1", "/p2", "/p3", "/p4", "/p5", "/p6" }[i % PATHS]);
	add_rows(&b, calls);
	run = bundle_open(&b);
	assert_int_equal(call_sums_read(&totals, run, &every_row, NULL), 0);
	assert_int_equal(totals.call_count, CALLS);
	assert_int_equal(totals.path_count, PATHS);
	for (size_t i = 0; i < totals.call_count; i++) {
		is_sum(&totals.calls[i], &by_call[totals.calls[i].name.data[4] - '0']);
		if (i)
			assert_true(totals.calls[i - 1].total_ns >= totals.calls[i].total_ns);
	}
	call_sums_by_bytes(totals.paths, totals.path_count);
	for (size_t i = 0; i < totals.path_count; i++) {
		is_sum(&totals.paths[i], &by_path[totals.paths[i].name.data[2] - '0']);
		if (i)
			assert_true(totals.paths[i - 1].bytes >= totals.paths[i].bytes);
	}
	call_sums_release(&totals);
	bundle_remove(&b, run);
}

static void add_call(struct bundle *b, int64_t call, int64_t ts_ns, int64_t dur_ns, int64_t file, int64_t file2,
		int64_t ret)
{
	struct store_io row = store_io_nulls;

	row.ts_ns = ts_ns;
	row.dur_ns = dur_ns;
	row.call = call;
	row.file = file;
	row.file2 = file2;
	row.ret = row.size = ret;
	store_sink_add(&b->sink, STORE_TABLE_IO, &row);
}

static void is_path(const struct call_sums *s, const char *path, const struct sum *want)
{
	for (size_t i = 0; i < s->path_count; i++)
		if (strcmp(s->paths[i].name.data, path) == 0) {
			is_sum(&s->paths[i], want);
			return;
		}
	fail_msg("%s is not among the paths", path);
}

/* A copy is read from its file and written to its second one; a rename has two files and copies nothing. */
static void copies_count_on_both_files(void **state)
{
	struct bundle b;
	struct model_run *run;
	struct call_sums totals;
	int64_t copy, rename;

	(void)state;
	bundle_make(&b);
	copy = bundle_call(&b, "copy_file_range");
	rename = bundle_call(&b, "rename");
	bundle_file(&b, 1, STORE_NULL, "/from");
	bundle_file(&b, 2, STORE_NULL, "/to");
	bundle_file(&b, 3, STORE_NULL, "/old");
	bundle_file(&b, 4, STORE_NULL, "/new");
	add_call(&b, copy, 10, 5, 1, 2, 1000);
	add_call(&b, copy, 20, 7, 1, 2, 24);
	add_call(&b, rename, 30, 3, 3, 4, 0);
	run = bundle_open(&b);
	assert_int_equal(call_sums_read(&totals, run, &every_row, NULL), 0);
	assert_int_equal(totals.path_count, 3);
	is_path(&totals, "/from", &(struct sum){ .calls = 2, .bytes = 1024, .total_ns = 12 });
	is_path(&totals, "/to", &(struct sum){ .calls = 2, .bytes = 1024 });
	is_path(&totals, "/old", &(struct sum){ .calls = 1, .total_ns = 3 });
	call_sums_release(&totals);
	bundle_remove(&b, run);
}

static void a_window_has_what_starts_in_it_and_its_time(void **state)
{
	struct engine_run_opts opts = { .has_range = true, .from_ns = 100, .to_ns = 200 };
	struct bundle b;
	struct model_run *run;
	struct call_sums totals;
	int64_t read;

	(void)state;
	bundle_make(&b);
	read = bundle_call(&b, "read");
	bundle_file(&b, 1, STORE_NULL, "/a");
	bundle_file(&b, 2, STORE_NULL, "/b");
	add_call(&b, read, 90, 30, 1, STORE_NULL, 1);
	add_call(&b, read, 130, 100, 1, STORE_NULL, 20);
	add_call(&b, read, 0, 500, 2, STORE_NULL, 300);
	add_call(&b, read, 200, 10, 2, STORE_NULL, 4000);
	run = bundle_open(&b);
	assert_int_equal(call_sums_read(&totals, run, &opts, NULL), 0);
	assert_int_equal(totals.call_count, 1);
	is_sum(&totals.calls[0], &(struct sum){ .calls = 1, .bytes = 20, .total_ns = 20 + 70 + 100 });
	is_path(&totals, "/a", &(struct sum){ .calls = 1, .bytes = 20, .total_ns = 90 });
	is_path(&totals, "/b", &(struct sum){ .total_ns = 100 });
	call_sums_release(&totals);
	bundle_remove(&b, run);
}

static void a_run_without_calls_has_none(void **state)
{
	struct bundle b;
	struct model_run *run;
	struct call_sums totals;

	(void)state;
	bundle_make(&b);
	run = bundle_open(&b);
	assert_int_equal(call_sums_read(&totals, run, &every_row, NULL), 0);
	assert_int_equal(totals.call_count, 0);
	assert_int_equal(totals.path_count, 0);
	call_sums_release(&totals);
	bundle_remove(&b, run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_right),
		cmocka_unit_test(copies_count_on_both_files),
		cmocka_unit_test(a_window_has_what_starts_in_it_and_its_time),
		cmocka_unit_test(a_run_without_calls_has_none),
	};

	return RUN_TESTS(tests);
}
