/*
 * Sums by call and by path: they add up to what the rows hold.
 */
#include "bundle.h"

#include "model/dimensions.h"
#include "model/totals.h"

#include <string.h>

enum { CALLS = 5, FILES = 40, PATHS = 7, ROWS = 20000 };

struct sum {
	uint64_t calls, errors, bytes;
	int64_t total_ns;
};

static struct sum by_call[CALLS], by_path[PATHS];

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

static void is_sum(const struct model_total *t, const struct sum *want)
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
	struct model_totals totals;
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
	assert_int_equal(model_totals_make(run, &totals, NULL), 0);
	assert_int_equal(totals.call_count, CALLS);
	assert_int_equal(totals.path_count, PATHS);
	for (size_t i = 0; i < totals.call_count; i++) {
		is_sum(&totals.calls[i], &by_call[totals.calls[i].name.data[4] - '0']);
		if (i)
			assert_true(totals.calls[i - 1].total_ns >= totals.calls[i].total_ns);
	}
	model_sort_by_bytes(totals.paths, totals.path_count);
	for (size_t i = 0; i < totals.path_count; i++) {
		is_sum(&totals.paths[i], &by_path[totals.paths[i].name.data[2] - '0']);
		if (i)
			assert_true(totals.paths[i - 1].bytes >= totals.paths[i].bytes);
	}
	model_totals_release(&totals);
	bundle_remove(&b, run);
}

static void a_run_without_calls_has_none(void **state)
{
	struct bundle b;
	struct model_run *run;
	struct model_totals totals;

	(void)state;
	bundle_make(&b);
	run = bundle_open(&b);
	assert_int_equal(model_totals_make(run, &totals, NULL), 0);
	assert_int_equal(totals.call_count, 0);
	assert_int_equal(totals.path_count, 0);
	model_totals_release(&totals);
	bundle_remove(&b, run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums_are_right),
		cmocka_unit_test(a_run_without_calls_has_none),
	};

	return RUN_TESTS(tests);
}
