/*
 * Plans against sums made row by row: keys of all kinds, filters, windows; and
 * threads and parts that must not show in the answers.
 */
#include "support.h"

#include "engine/plan.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 150000, CALLS = 7 };

static struct store_io *rows;
static int dirfd;
static struct store_table *table;

static const int64_t processes[] = { 1, 2, 3, -4, (int64_t)1 << 40, STORE_NULL };

static struct store_io random_row(int64_t at)
{
	struct store_io row = store_io_nulls;

	row.ts_ns = random_below(100) ? at + (int64_t)random_below(500) : STORE_NULL;
	row.dur_ns = random_below(20) ? (int64_t)random_below(300) : STORE_NULL;
	row.call = 1 + (int64_t)random_below(CALLS);
	row.process = processes[random_below(sizeof(processes) / sizeof(*processes))];
	row.ret = random_below(10) ? (int64_t)random_below(100000) - 1 : STORE_NULL;
	row.fd = (int64_t)random_below(3);
	return row;
}

static int make_table(void **state)
{
	char dir[] = "/tmp/sonde-engine.XXXXXX";
	struct store_writer *w;

	(void)state;
	random_init();
	assert_non_null(mkdtemp(dir));
	dirfd = open(dir, O_RDONLY | O_DIRECTORY);
	rows = calloc(ROWS, sizeof(*rows));
	assert_int_equal(store_writer_open(&w, dirfd, &store_io_schema, NULL), 0);
	for (size_t i = 0; i < ROWS; i++) {
		rows[i] = random_row((int64_t)i * 100);
		assert_int_equal(store_add_io(w, &rows[i], NULL), 0);
		if (i % 7001 == 0)
			assert_int_equal(store_writer_flush(w, NULL), 0);
	}
	assert_int_equal(store_writer_close(w, NULL), 0);
	assert_int_equal(store_table_open(&table, dirfd, "io", NULL), 0);
	assert_int_equal(unlinkat(dirfd, "io.tbl", 0), 0);
	return rmdir(dir);
}

static int free_table(void **state)
{
	(void)state;
	store_table_free(table);
	free(rows);
	return close(dirfd);
}

/* A derived column: is it a large result? */
static void fill_large(const void *arg, const struct engine_rows *r, int64_t *out)
{
	for (size_t i = 0; i < r->count; i++)
		out[i] = r->ints[STORE_IO_ret][i] > *(const int64_t *)arg;
}

static const int64_t large = 50000;

enum { BY_CALL, BY_PAIR, LARGE, ALL, QUERIES };

static struct engine_plan *make_plan(void)
{
	struct engine_derive derive = { .fill = fill_large, .arg = &large, .need_count = 1, .needs = { STORE_IO_ret } };
	struct engine_plan *plan;
	int is_large;

	assert_int_equal(engine_plan_new(&plan, &store_io_schema, NULL), 0);
	is_large = engine_plan_derive(plan, &derive);
	assert_true(is_large >= 0);
	const struct engine_query queries[QUERIES] = {
		[BY_CALL] = { "by call", 1, { STORE_IO_call }, ENGINE_NONE, 7,
				{ { ENGINE_COUNT, ENGINE_NONE }, { ENGINE_SUM, STORE_IO_ret },
						{ ENGINE_MIN, STORE_IO_ret }, { ENGINE_MAX, STORE_IO_dur_ns },
						{ ENGINE_MOMENTS, STORE_IO_dur_ns },
						{ ENGINE_QUANTILES, STORE_IO_dur_ns }, { ENGINE_TIME, ENGINE_NONE } } },
		[BY_PAIR] = { "by process and call", 2, { STORE_IO_process, STORE_IO_call }, ENGINE_NONE, 3,
				{ { ENGINE_COUNT, ENGINE_NONE }, { ENGINE_UNION, ENGINE_NONE },
						{ ENGINE_CONCURRENCY, ENGINE_NONE } } },
		[LARGE] = { "large", 1, { STORE_IO_process }, is_large, 2,
				{ { ENGINE_COUNT, ENGINE_NONE }, { ENGINE_DISTINCT, STORE_IO_ret } } },
		[ALL] = { "all", 0, { 0 }, ENGINE_NONE, 2,
				{ { ENGINE_COUNT, ENGINE_NONE }, { ENGINE_SUM, STORE_IO_fd } } },
	};
	for (int q = 0; q < QUERIES; q++)
		assert_int_equal(engine_plan_query(plan, &queries[q]), q);
	return plan;
}

static struct engine_plan *answered(const struct engine_run_opts *opts)
{
	struct engine_plan *plan = make_plan();

	assert_int_equal(engine_plan_run(plan, table, opts, NULL), 0);
	assert_int_equal(engine_plan_finish(plan, NULL), 0);
	return plan;
}

static int by_value(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static void check_call(const struct engine_groups *g, size_t i)
{
	int64_t call = engine_key(g, i, 0), sum = 0, min = INT64_MAX, max = INT64_MIN;
	uint64_t count = 0, rets = 0;
	double *durs = calloc(ROWS, sizeof(*durs)), mean = 0, variance = 0, median;
	size_t n = 0;

	for (size_t r = 0; r < ROWS; r++) {
		if (rows[r].call != call)
			continue;
		count++;
		if (rows[r].ret != STORE_NULL) {
			rets++;
			sum += rows[r].ret;
			min = rows[r].ret < min ? rows[r].ret : min;
		}
		if (rows[r].dur_ns == STORE_NULL)
			continue;
		max = rows[r].dur_ns > max ? rows[r].dur_ns : max;
		durs[n++] = (double)rows[r].dur_ns;
		mean += (double)rows[r].dur_ns;
	}
	mean /= (double)n;
	for (size_t d = 0; d < n; d++)
		variance += (durs[d] - mean) * (durs[d] - mean) / (double)(n - 1);
	qsort(durs, n, sizeof(*durs), by_value);
	median = durs[(n - 1) / 2];
	assert_int_equal(engine_count(g, 0, i), count);
	assert_int_equal(engine_count(g, 1, i), rets);
	assert_int_equal(engine_sum(g, 1, i), sum);
	assert_int_equal(engine_extreme(g, 2, i), min);
	assert_int_equal(engine_extreme(g, 3, i), max);
	assert_int_equal(engine_count(g, 4, i), n);
	assert_true(fabs(engine_mean(g, 4, i) / mean - 1) < 1e-12);
	assert_true(fabs(engine_variance(g, 4, i) / variance - 1) < 1e-9);
	assert_true(fabs(engine_quantile(g, 5, i, 0.5) - median) <= median * STATS_SKETCH_ERROR);
	free(durs);
}

static void groups_of_one_key(void **state)
{
	struct engine_run_opts opts = { .threads = 2 };
	struct engine_plan *plan = answered(&opts);
	const struct engine_groups *g = engine_plan_groups(plan, BY_CALL);

	(void)state;
	assert_int_equal(g->count, CALLS);
	for (size_t i = 0; i < g->count; i++) {
		assert_int_equal(engine_key(g, i, 0), i + 1);
		check_call(g, i);
	}
	engine_plan_free(plan);
}

/* The time that these rows cover, and the most at once, by walking over all begins and ends. */
struct point {
	int64_t at;
	int step;
};

static int by_point(const void *a, const void *b)
{
	const struct point *left = a, *right = b;

	if (left->at != right->at)
		return left->at < right->at ? -1 : 1;
	return left->step - right->step;
}

static void walk(int64_t process, int64_t call, int64_t from, int64_t to, int64_t *covered, uint64_t *most)
{
	struct point *points = calloc((size_t)2 * ROWS, sizeof(*points));
	size_t n = 0;
	int64_t active = 0;

	*covered = 0;
	*most = 0;
	for (size_t r = 0; r < ROWS; r++) {
		int64_t start = rows[r].ts_ns, end;

		if (rows[r].process != process || rows[r].call != call || start == STORE_NULL || rows[r].dur_ns <= 0)
			continue;
		end = start + rows[r].dur_ns;
		start = start < from ? from : start;
		end = end > to ? to : end;
		if (start >= end)
			continue;
		points[n++] = (struct point){ start, 1 };
		points[n++] = (struct point){ end, -1 };
	}
	qsort(points, n, sizeof(*points), by_point);
	for (size_t i = 0; i < n; i++) {
		*covered += active ? points[i].at - points[i - 1].at : 0;
		active += points[i].step;
		*most = (uint64_t)active > *most ? (uint64_t)active : *most;
	}
	free(points);
}

static void keep_most(void *arg, int64_t from, int64_t to, uint64_t mask, uint64_t active)
{
	(void)from, (void)to, (void)mask;
	*(uint64_t *)arg = active > *(uint64_t *)arg ? active : *(uint64_t *)arg;
}

static void check_pairs(const struct engine_plan *plan, int64_t from, int64_t to)
{
	const struct engine_groups *g = engine_plan_groups(plan, BY_PAIR);

	assert_int_equal(g->count, CALLS * sizeof(processes) / sizeof(*processes));
	for (size_t i = 0; i < g->count; i += 5) {
		struct engine_sweep_set set = { .cover = interval_set(g, 1, i) };
		struct engine_sweep_set counted = { .cover = interval_set(g, 2, i) };
		int64_t covered;
		uint64_t most, most_seen = 0;

		walk(engine_key(g, i, 0), engine_key(g, i, 1), from, to, &covered, &most);
		assert_int_equal(interval_set_ns(&set, 1), covered);
		assert_int_equal(interval_set_ns(&counted, 1), covered);
		assert_int_equal(engine_sweep(&counted, 1, keep_most, &most_seen), 0);
		assert_int_equal(most_seen, most);
	}
}

static void groups_of_two_keys_and_their_time(void **state)
{
	struct engine_run_opts opts = { .threads = 3 };
	struct engine_plan *plan = answered(&opts);

	(void)state;
	check_pairs(plan, INT64_MIN, INT64_MAX);
	engine_plan_free(plan);
}

/* The rule of doc/format.md, row by row: what a window [from, to) has of one call. */
struct window_sums {
	uint64_t count, rets;
	int64_t ret_sum, dur_max, time_ns;
};

static struct window_sums by_hand(int64_t call, int64_t from, int64_t to)
{
	struct window_sums s = { .dur_max = STORE_NULL };

	for (size_t r = 0; r < ROWS; r++) {
		int64_t start = rows[r].ts_ns, dur = rows[r].dur_ns > 0 ? rows[r].dur_ns : 0, end = start + dur;

		if (rows[r].call != call || start == STORE_NULL || start >= to)
			continue;
		end = end > to ? to : end;
		s.time_ns += end > (start < from ? from : start) ? end - (start < from ? from : start) : 0;
		if (start < from)
			continue;
		s.count++;
		s.rets += rows[r].ret != STORE_NULL;
		s.ret_sum += rows[r].ret != STORE_NULL ? rows[r].ret : 0;
		s.dur_max = rows[r].dur_ns > s.dur_max ? rows[r].dur_ns : s.dur_max;
	}
	return s;
}

/* A row counts where it starts, with its whole duration; time is what lies inside. */
static void a_window_counts_starts_and_clips_time(void **state)
{
	int64_t from = (int64_t)random_below(ROWS) * 50, to = from + 1000000;
	struct engine_run_opts opts = { .has_range = true, .from_ns = from, .to_ns = to };
	struct engine_plan *plan = answered(&opts);
	const struct engine_groups *g = engine_plan_groups(plan, BY_CALL);

	(void)state;
	assert_int_equal(g->count, CALLS);
	for (size_t i = 0; i < g->count; i++) {
		struct window_sums want = by_hand(engine_key(g, i, 0), from, to);

		assert_int_equal(engine_count(g, 0, i), want.count);
		assert_int_equal(engine_count(g, 1, i), want.rets);
		assert_int_equal(engine_sum(g, 1, i), want.ret_sum);
		assert_int_equal(engine_extreme(g, 3, i), want.dur_max);
		assert_int_equal(engine_sum(g, 6, i), want.time_ns);
	}
	check_pairs(plan, from, to);
	engine_plan_free(plan);
}

/* A window of the last nanosecond of a row: it has time there, and neither a count nor quantiles. */
static void a_row_from_before_has_time_and_no_count(void **state)
{
	struct engine_run_opts opts = { .has_range = true };
	struct engine_plan *plan;
	const struct engine_groups *g;
	struct window_sums want;
	size_t one = 0, at = 0;

	(void)state;
	for (size_t r = 0; r < ROWS; r++)
		if (rows[r].ts_ns != STORE_NULL && rows[r].dur_ns > 200)
			one = r;
	opts.to_ns = rows[one].ts_ns + rows[one].dur_ns;
	opts.from_ns = opts.to_ns - 1;
	plan = answered(&opts);
	g = engine_plan_groups(plan, BY_CALL);
	while (at < g->count && engine_key(g, at, 0) != rows[one].call)
		at++;
	assert_in_range(at, 0, g->count - 1);
	want = by_hand(rows[one].call, opts.from_ns, opts.to_ns);
	assert_true(want.time_ns >= 1);
	assert_int_equal(engine_sum(g, 6, at), want.time_ns);
	assert_int_equal(engine_count(g, 0, at), want.count);
	assert_int_equal(isnan(engine_quantile(g, 5, at, 0.5)), want.dur_max == STORE_NULL);
	engine_plan_free(plan);
}

struct by_group {
	uint64_t count;
	int64_t ret_sum, time_ns, covered_ns;
};

static void gather(const struct engine_run_opts *opts, struct by_group calls[CALLS + 1],
		struct by_group pairs[sizeof(processes) / sizeof(*processes)][CALLS + 1])
{
	struct engine_plan *plan = answered(opts);
	const struct engine_groups *g = engine_plan_groups(plan, BY_CALL);

	for (size_t i = 0; i < g->count; i++) {
		struct by_group *at = &calls[engine_key(g, i, 0)];

		at->count += engine_count(g, 0, i);
		at->ret_sum += engine_sum(g, 1, i);
		at->time_ns += engine_sum(g, 6, i);
	}
	g = engine_plan_groups(plan, BY_PAIR);
	for (size_t i = 0; i < g->count; i++) {
		struct engine_sweep_set set = { .cover = interval_set(g, 1, i) };
		size_t p = 0;

		while (processes[p] != engine_key(g, i, 0))
			p++;
		pairs[p][engine_key(g, i, 1)].covered_ns += interval_set_ns(&set, 1);
	}
	engine_plan_free(plan);
}

/* [a, b) and [b, c) have together what [a, c) has: counts, values, time and unions, of every group. */
static void adjacent_windows_add_up(void **state)
{
	enum { PROCESSES = sizeof(processes) / sizeof(*processes) };

	(void)state;
	for (int round = 0; round < 8; round++) {
		int64_t last = (int64_t)ROWS * 100 + 1000, a = (int64_t)random_below((uint64_t)last / 2);
		int64_t b = a + (int64_t)random_below((uint64_t)(last - a)), c = b + 1 + (int64_t)random_below(5000);
		struct by_group parts[CALLS + 1] = { 0 }, whole[CALLS + 1] = { 0 };
		struct by_group part_pairs[PROCESSES][CALLS + 1] = { 0 }, whole_pairs[PROCESSES][CALLS + 1] = { 0 };

		gather(&(struct engine_run_opts){ .has_range = true, .from_ns = a, .to_ns = b }, parts, part_pairs);
		gather(&(struct engine_run_opts){ .has_range = true, .from_ns = b, .to_ns = c }, parts, part_pairs);
		gather(&(struct engine_run_opts){ .has_range = true, .from_ns = a, .to_ns = c }, whole, whole_pairs);
		assert_memory_equal(parts, whole, sizeof(parts));
		assert_memory_equal(part_pairs, whole_pairs, sizeof(part_pairs));
	}
}

static void filters_leave_out(void **state)
{
	struct engine_run_opts opts = { .threads = 2 };
	struct engine_plan *plan = answered(&opts);
	const struct engine_groups *g = engine_plan_groups(plan, LARGE);

	(void)state;
	for (size_t i = 0; i < g->count; i++) {
		uint64_t want = 0;

		for (size_t r = 0; r < ROWS; r++)
			want += rows[r].process == engine_key(g, i, 0) && rows[r].ret > large;
		assert_int_equal(engine_count(g, 0, i), want);
		assert_true(fabs((double)engine_distinct(g, 1, i) / (double)want - 0.86) < 0.1); /* some are twice */
	}
	engine_plan_free(plan);
}

static void save(const struct engine_run_opts *opts, struct buf *out)
{
	struct engine_plan *plan = answered(opts);

	assert_int_equal(engine_plan_save(plan, out), 0);
	engine_plan_free(plan);
}

static void threads_do_not_show(void **state)
{
	struct buf one = BUF_INIT, many = BUF_INIT;

	(void)state;
	save(&(struct engine_run_opts){ .threads = 1 }, &one);
	save(&(struct engine_run_opts){ .threads = 4, .cover_bytes = 1 }, &many);
	assert_int_equal(one.len, many.len);
	assert_memory_equal(one.data, many.data, one.len);
	buf_release(&one);
	buf_release(&many);
}

/* Parts in any order; more parts than blocks. */
static void parts_do_not_show(void **state)
{
	static const unsigned counts[] = { 2, 4, 50 };
	struct buf whole = BUF_INIT, merged = BUF_INIT, part = BUF_INIT;

	(void)state;
	save(&(struct engine_run_opts){ .threads = 2 }, &whole);
	for (size_t c = 0; c < sizeof(counts) / sizeof(*counts); c++) {
		struct engine_plan *plan = make_plan();

		for (unsigned p = counts[c]; p-- > 0;) {
			struct engine_run_opts opts = { .threads = 1, .part = { p, counts[c] } };
			struct unpack u;

			buf_reset(&part);
			save(&opts, &part);
			u = (struct unpack){ .at = (uint8_t *)part.data, .end = (uint8_t *)part.data + part.len };
			assert_int_equal(engine_plan_load(plan, &u, NULL), 0);
			assert_ptr_equal(u.at, u.end);
		}
		assert_int_equal(engine_plan_finish(plan, NULL), 0);
		buf_reset(&merged);
		assert_int_equal(engine_plan_save(plan, &merged), 0);
		assert_int_equal(whole.len, merged.len);
		assert_memory_equal(whole.data, merged.data, whole.len);
		engine_plan_free(plan);
	}
	buf_release(&whole);
	buf_release(&merged);
	buf_release(&part);
}

/* Cut anywhere or with a byte changed: refused, or read as some numbers, but never out of bounds. */
static void damaged_parts_are_harmless(void **state)
{
	struct buf part = BUF_INIT;

	(void)state;
	save(&(struct engine_run_opts){ .threads = 1, .part = { 0, 20 } }, &part);
	for (int round = 0; round < 300; round++) {
		struct engine_plan *plan = make_plan();
		size_t at = random_below(part.len);
		char kept = part.data[at];
		bool is_cut = round % 2;
		struct unpack u = { .at = (uint8_t *)part.data,
			.end = (uint8_t *)part.data + (is_cut ? at : part.len) };
		int rc;

		if (!is_cut)
			part.data[at] = (char)random_u64();
		rc = engine_plan_load(plan, &u, NULL);
		if (is_cut)
			assert_int_equal(rc, -EBADMSG);
		if (rc == 0)
			assert_int_equal(engine_plan_finish(plan, NULL), 0);
		part.data[at] = kept;
		engine_plan_free(plan);
	}
	buf_release(&part);
}

/* Rows by the million, each its own group: given up, and said. */
static void too_many_groups_are_given_up(void **state)
{
	static int64_t keys[STORE_BLOCK_ROWS];
	struct engine_query q = { "each", 1, { STORE_IO_ret }, ENGINE_NONE, 2,
		{ { ENGINE_COUNT, ENGINE_NONE }, { ENGINE_QUANTILES, STORE_IO_ret } } };
	struct engine_rows block = { .count = STORE_BLOCK_ROWS, .ints = { [STORE_IO_ret] = keys } };
	struct engine_plan *plan;

	(void)state;
	assert_int_equal(engine_plan_new(&plan, &store_io_schema, NULL), 0);
	assert_int_equal(engine_plan_query(plan, &q), 0);
	for (int64_t b = 0; b < 66; b++) {
		for (size_t i = 0; i < STORE_BLOCK_ROWS; i++)
			keys[i] = b * STORE_BLOCK_ROWS + (int64_t)i;
		assert_int_equal(engine_plan_feed(plan, &block), 0);
	}
	assert_int_equal(engine_plan_finish(plan, NULL), 0);
	assert_true(engine_plan_groups(plan, 0)->is_over);
	assert_int_equal(engine_plan_groups(plan, 0)->count, 0);
	engine_plan_free(plan);
}

static void every_lack_of_memory_is_told(void **state)
{
	bool is_done = false;

	(void)state;
	for (size_t good = 0; !is_done; good += 1 + good / 8) {
		struct engine_run_opts opts = { .threads = 1, .part = { 1, 8 } };
		struct engine_plan *plan = make_plan();
		int rc;

		alloc_fail_after(good);
		rc = engine_plan_run(plan, table, &opts, NULL);
		if (rc == 0)
			rc = engine_plan_finish(plan, NULL);
		is_done = !alloc_has_failed();
		alloc_fail_never();
		assert_int_equal(rc, is_done ? 0 : -ENOMEM);
		engine_plan_free(plan);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_of_one_key),
		cmocka_unit_test(groups_of_two_keys_and_their_time),
		cmocka_unit_test(a_window_counts_starts_and_clips_time),
		cmocka_unit_test(a_row_from_before_has_time_and_no_count),
		cmocka_unit_test(adjacent_windows_add_up),
		cmocka_unit_test(filters_leave_out),
		cmocka_unit_test(threads_do_not_show),
		cmocka_unit_test(parts_do_not_show),
		cmocka_unit_test(damaged_parts_are_harmless),
		cmocka_unit_test(too_many_groups_are_given_up),
		cmocka_unit_test(every_lack_of_memory_is_told),
	};

	return cmocka_run_group_tests(tests, make_table, free_table);
}
