/*
 * Rows in the order of their time: whatever the order in the file, however
 * small the pool, each row once, sorted, ties as in the file.
 */
#include "bundle.h"

#include "model/rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Row n of the file says so itself: `depth` is its number, `args` its number as text (null for every seventh). */
static void add_span(struct bundle *b, int64_t n, int64_t ts_ns, int64_t dur_ns)
{
	char bytes[32];
	struct store_text args = { .data = bytes };
	struct store_span row = store_span_nulls;

	args.bytes = (size_t)snprintf(bytes, sizeof(bytes), "text of %lld", (long long)n);
	row.ts_ns = ts_ns;
	row.dur_ns = dur_ns;
	row.depth = n;
	row.args = n % 7 ? &args : NULL;
	store_sink_add(&b->sink, STORE_TABLE_SPAN, &row);
}

struct want {
	int64_t ts_ns, dur_ns, n;
};

static bool longest_first;

static int compare(const void *a, const void *b)
{
	const struct want *l = a, *r = b;

	if (l->ts_ns != r->ts_ns)
		return l->ts_ns < r->ts_ns ? -1 : 1;
	if (longest_first && l->dur_ns != r->dur_ns)
		return l->dur_ns > r->dur_ns ? -1 : 1;
	return (l->n > r->n) - (l->n < r->n);
}

static void is_row(const struct store_span *row, const struct want *want)
{
	char bytes[32];

	assert_int_equal(row->depth, want->n);
	assert_int_equal(row->ts_ns, want->ts_ns);
	if (want->n % 7 == 0) {
		assert_null(row->args);
		return;
	}
	snprintf(bytes, sizeof(bytes), "text of %lld", (long long)want->n);
	assert_non_null(row->args);
	assert_int_equal(row->args->bytes, strlen(bytes));
	assert_memory_equal(row->args->data, bytes, strlen(bytes));
}

static void read_all(struct model_run *run, struct want *want, size_t count, const struct model_rows_opts *opts)
{
	struct model_rows *rows;
	const void *row;

	longest_first = opts->is_longest_first;
	qsort(want, count, sizeof(*want), compare);
	assert_int_equal(model_rows_open(&rows, model_table(run, STORE_TABLE_SPAN), opts, NULL), 0);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(model_rows_next(rows, &row, NULL), 0);
		assert_non_null(row);
		is_row(row, &want[i]);
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(model_rows_next(rows, &row, NULL), 0);
		assert_null(row);
	}
	model_rows_free(rows);
}

/* `count` rows in blocks of up to `block` rows, at times of the caller's making. */
static void make_rows(struct bundle *b, struct want *want, size_t count, size_t block, int64_t (*time)(size_t i))
{
	for (size_t i = 0; i < count; i++) {
		want[i] = (struct want){ .ts_ns = time(i), .dur_ns = (int64_t)random_below(4), .n = (int64_t)i };
		add_span(b, want[i].n, want[i].ts_ns, want[i].dur_ns);
		if (random_below(block) == 0)
			store_sink_flush(&b->sink);
	}
}

static int64_t sorted(size_t i)
{
	return 1000 + (int64_t)i;
}

static int64_t nearly_sorted(size_t i)
{
	return 1000 + (int64_t)(i / 100 * 100 + random_below(150));
}

static int64_t anywhere(size_t i)
{
	(void)i;
	return 1000 + (int64_t)random_below(3000);
}

static int64_t backwards(size_t i)
{
	return 100000 - (int64_t)i;
}

static int64_t all_the_same(size_t i)
{
	(void)i;
	return 5000;
}

/* Two processes whose rows come one after the other in the file. */
static int64_t interleaved(size_t i)
{
	return 1000 + (int64_t)(i < 2000 ? 2 * i : 2 * (i - 2000) + 1);
}

static void every_order_comes_out_sorted(void **state)
{
	int64_t (*const orders[])(size_t) = { sorted, nearly_sorted, anywhere, backwards, all_the_same, interleaved };
	static const size_t pools[] = { 2, 3, 17, 500, 5000, 0 };
	enum { COUNT = 4000 };
	static struct want want[COUNT];

	(void)state;
	random_init();
	for (size_t o = 0; o < sizeof(orders) / sizeof(*orders); o++) {
		struct bundle b;
		struct model_run *run;

		bundle_make(&b);
		make_rows(&b, want, COUNT, 300, orders[o]);
		run = bundle_open(&b);
		for (size_t p = 0; p < sizeof(pools) / sizeof(*pools); p++) {
			struct model_rows_opts opts = { .pool_rows = pools[p], .is_longest_first = p % 2 };

			if (pools[p] && pools[p] < 17 && o != 1)
				continue; /* each cut reads the blocks again: tiny pools are slow */
			read_all(run, want, COUNT, &opts);
		}
		bundle_remove(&b, run);
	}
}

static void null_times_lose_no_row(void **state)
{
	enum { COUNT = 1000 };
	struct bundle b;
	struct model_run *run;
	struct model_rows *rows;
	const void *row;
	bool is_seen[COUNT] = { false };
	static const struct model_rows_opts opts = { .pool_rows = 64 };

	(void)state;
	random_init();
	bundle_make(&b);
	for (int64_t i = 0; i < COUNT; i++) {
		add_span(&b, i, i % 3 ? (int64_t)random_below(500) : STORE_NULL, 1);
		if (random_below(50) == 0)
			store_sink_flush(&b.sink);
	}
	run = bundle_open(&b);
	assert_int_equal(model_rows_open(&rows, model_table(run, STORE_TABLE_SPAN), &opts, NULL), 0);
	while (model_rows_next(rows, &row, NULL) == 0 && row) {
		int64_t n = ((const struct store_span *)row)->depth;

		assert_false(is_seen[n]);
		is_seen[n] = true;
	}
	for (int i = 0; i < COUNT; i++)
		assert_true(is_seen[i]);
	model_rows_free(rows);
	bundle_remove(&b, run);
}

static bool is_even(void *arg, const struct store_batch *batch, size_t i)
{
	++*(size_t *)arg;
	return batch->columns[STORE_SPAN_depth].ints[i] % 2 == 0;
}

static void filters_and_ranges(void **state)
{
	enum { COUNT = 3000 };
	static struct want want[COUNT];
	size_t kept = 0, asked = 0;
	uint64_t counted;
	struct bundle b;
	struct model_run *run;
	struct model_rows_opts opts = { .has_range = true,
		.from_ns = 1500,
		.to_ns = 2500,
		.keep = is_even,
		.arg = &asked,
		.pool_rows = 100 };

	(void)state;
	random_init();
	bundle_make(&b);
	make_rows(&b, want, COUNT, 300, anywhere);
	run = bundle_open(&b);
	for (size_t i = 0; i < COUNT; i++)
		if (want[i].ts_ns >= 1500 && want[i].ts_ns < 2500 && want[i].n % 2 == 0)
			want[kept++] = want[i];
	read_all(run, want, kept, &opts);
	assert_true(asked > 0);
	assert_int_equal(model_rows_count(model_table(run, STORE_TABLE_SPAN), &opts, &counted, NULL), 0);
	assert_int_equal(counted, kept);
	bundle_remove(&b, run);
}

static void tables_without_time_keep_their_order(void **state)
{
	struct bundle b;
	struct model_run *run;
	struct model_rows *rows;
	const void *row;
	static const struct model_rows_opts opts = { .pool_rows = 10 };

	(void)state;
	bundle_make(&b);
	for (int64_t i = 0; i < 500; i++) {
		bundle_file(&b, 1000 - i, STORE_NULL, "/x");
		if (i % 40 == 0)
			store_sink_flush(&b.sink);
	}
	run = bundle_open(&b);
	assert_int_equal(model_rows_open(&rows, model_table(run, STORE_TABLE_FILE), &opts, NULL), 0);
	for (int64_t i = 0; i < 500; i++) {
		assert_int_equal(model_rows_next(rows, &row, NULL), 0);
		assert_int_equal(((const struct store_file *)row)->file, 1000 - i);
	}
	model_rows_free(rows);
	bundle_remove(&b, run);
}

static void no_table_has_no_rows(void **state)
{
	struct model_rows *rows;
	const void *row = &rows;
	uint64_t count = 7;
	static const struct model_rows_opts opts = { .has_range = false };

	(void)state;
	assert_int_equal(model_rows_open(&rows, NULL, &opts, NULL), 0);
	assert_int_equal(model_rows_next(rows, &row, NULL), 0);
	assert_null(row);
	model_rows_free(rows);
	model_rows_free(NULL);
	assert_int_equal(model_rows_count(NULL, &opts, &count, NULL), 0);
	assert_int_equal(count, 0);
}

/* Texts of more than the pool's measure: 200 MiB in rows of 1 MiB, backwards. */
static void large_texts_stay_bounded(void **state)
{
	enum { COUNT = 200 };
	static char bytes[1 << 20];
	struct store_text args = { .data = bytes, .bytes = sizeof(bytes) };
	struct bundle b;
	struct model_run *run;
	struct model_rows *rows;
	const void *row;
	static const struct model_rows_opts opts = { .has_range = false };

	(void)state;
	bundle_make(&b);
	for (int64_t i = 0; i < COUNT; i++) {
		struct store_span span = store_span_nulls;

		span.ts_ns = 1000 - i;
		span.depth = i;
		bytes[0] = (char)i;
		span.args = &args;
		store_sink_add(&b.sink, STORE_TABLE_SPAN, &span);
	}
	run = bundle_open(&b);
	assert_int_equal(model_rows_open(&rows, model_table(run, STORE_TABLE_SPAN), &opts, NULL), 0);
	for (int64_t i = COUNT - 1; i >= 0; i--) {
		const struct store_span *span;

		assert_int_equal(model_rows_next(rows, &row, NULL), 0);
		assert_non_null(row);
		span = row;
		assert_int_equal(span->depth, i);
		assert_int_equal(span->args->bytes, sizeof(bytes));
		assert_int_equal(span->args->data[0], (char)i);
	}
	model_rows_free(rows);
	bundle_remove(&b, run);
}

static void out_of_memory_is_an_error(void **state)
{
	enum { COUNT = 2000 };
	static struct want want[COUNT];
	struct bundle b;
	struct model_run *run;
	static const struct model_rows_opts opts = { .pool_rows = 0 };
	bool is_whole = false;

	(void)state;
	random_init();
	bundle_make(&b);
	make_rows(&b, want, COUNT, 300, anywhere);
	run = bundle_open(&b);
	for (size_t good = 0; !is_whole; good++) {
		struct model_rows *rows = NULL;
		struct sonde_err err = SONDE_ERR_INIT;
		const void *row = NULL;
		int rc;

		alloc_fail_after(good);
		rc = model_rows_open(&rows, model_table(run, STORE_TABLE_SPAN), &opts, &err);
		while (rc == 0 && (rc = model_rows_next(rows, &row, &err)) == 0 && row)
			;
		is_whole = !alloc_has_failed();
		alloc_fail_never();
		assert_true(is_whole ? rc == 0 : rc < 0 && err.text[0]);
		if (rows)
			model_rows_free(rows);
	}
	bundle_remove(&b, run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_order_comes_out_sorted),
		cmocka_unit_test(null_times_lose_no_row),
		cmocka_unit_test(filters_and_ranges),
		cmocka_unit_test(tables_without_time_keep_their_order),
		cmocka_unit_test(no_table_has_no_rows),
		cmocka_unit_test(large_texts_stay_bounded),
		cmocka_unit_test(out_of_memory_is_an_error),
	};

	return RUN_TESTS(tests);
}
