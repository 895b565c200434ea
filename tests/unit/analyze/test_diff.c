/* Diff: quantities of results made by hand, their changes, intervals and the verdict. */
#include "support.h"

#include "analyze/diff.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct analyze_column calls[] = {
	{ "call", "CALL", ANALYZE_TEXT },
	{ "count", "COUNT", ANALYZE_COUNT },
	{ "total_ns", "TIME", ANALYZE_NS },
};
static const struct analyze_column files[] = {
	{ "count", "COUNT", ANALYZE_COUNT },
	{ "pattern", "PATTERN", ANALYZE_TEXT },
	{ "path", "FILE", ANALYZE_TEXT },
};
static const struct analyze_column hosts[] = {
	{ "source", "FROM", ANALYZE_TEXT },
	{ "destination", "TO", ANALYZE_TEXT },
	{ "rtt_ns", "RTT", ANALYZE_NS },
	{ "bytes", "BYTES", ANALYZE_BYTES },
};

static void add_call(struct analyze_table *t, const char *name, int64_t count, int64_t ns)
{
	analyze_cell_text(t, name);
	analyze_cell_int(t, count);
	analyze_cell_int(t, ns);
}

/* A run: wall time, time in reads; write_ns 0: no writes. */
static void make(struct analyze_result *r, int64_t wall_ns, int64_t read_ns, int64_t write_ns)
{
	struct analyze_section *s;
	struct analyze_table *t;

	*r = (struct analyze_result){ .error = 0 };
	s = analyze_section(r, "overview", "Overview");
	s->is_top = true;
	analyze_int(s, "start_ns", NULL, ANALYZE_NS, wall_ns * 7);
	analyze_int(s, "wall_ns", "wall time", ANALYZE_NS, wall_ns);
	analyze_int(s, "pid", NULL, ANALYZE_ID, wall_ns);
	s = analyze_section(r, "io", "I/O");
	analyze_real(s, "share", NULL, ANALYZE_RATIO, (double)wall_ns);
	analyze_real(s, "speed", NULL, ANALYZE_REAL, (double)wall_ns / 10);
	t = analyze_table(s, "by_call", "Calls", calls, 3, 0);
	add_call(t, "read", 10, read_ns / 2);
	add_call(t, "read", 5, read_ns - read_ns / 2); /* of the same name: summed */
	if (write_ns)
		add_call(t, "write", 1, write_ns);
	add_call(t, NULL, 1, 3);
	t = analyze_table(s, "details", "Details", calls, 3, ANALYZE_DETAIL);
	add_call(t, "detail", 1, wall_ns);
	t = analyze_table(s, "by_file", "Files", files, 3, 0);
	analyze_cell_int(t, wall_ns / 5);
	analyze_cell_text(t, "random");
	analyze_cell_text(t, "/a");
	s = analyze_section(r, "network", "Network");
	t = analyze_table(s, "matrix", "Traffic", hosts, 4, ANALYZE_DETAIL);
	analyze_cell_text(t, "a");
	analyze_cell_text(t, "b");
	analyze_cell_int(t, 1);
	analyze_cell_int(t, wall_ns * 2);
	s = analyze_section(r, "losses", "Missing");
	analyze_int(s, "lost", NULL, ANALYZE_COUNT, wall_ns);
	s = analyze_section(r, "gpu", "GPU");
	analyze_int(s, "busy_ns", NULL, ANALYZE_NS, wall_ns);
	analyze_absent(s, "not recorded");
}

static void take(struct diff *d, bool is_b, size_t i, int64_t wall_ns, int64_t read_ns, int64_t write_ns)
{
	struct analyze_result r;

	make(&r, wall_ns, read_ns, write_ns);
	assert_int_equal(diff_add(d, is_b, i, &r, NULL), 0);
	analyze_result_release(&r);
}

static const struct diff_item *item(const struct diff *d, const char *list, const char *name, const char *key)
{
	for (size_t i = 0; i < d->count; i++)
		if (!strcmp(d->items[i].list, list) && !strcmp(d->items[i].name, name) && !strcmp(d->items[i].key, key))
			return &d->items[i];
	return NULL;
}

static void one_run_each(void **state)
{
	const struct diff_item *i;
	struct diff d;

	(void)state;
	diff_init(&d, 1, 1);
	take(&d, false, 0, 1000, 200, 50);
	take(&d, true, 0, 1200, 500, 0);
	assert_int_equal(diff_finish(&d, 0.1, NULL), 0);
	i = item(&d, "", "", "wall_ns");
	assert_true(i->mean_a == 1000 && i->mean_b == 1200 && i->change == 200);
	assert_true(isnan(i->lo) && isnan(i->hi) && !i->is_sure);
	assert_string_equal(i->title, "wall time");
	i = item(&d, "io.by_call", "read", "total_ns");
	assert_true(i->mean_a == 200 && i->mean_b == 500 && i->change == 300);
	i = item(&d, "io.by_call", "write", "total_ns"); /* missing where the table is: 0 */
	assert_true(i->mean_a == 50 && i->mean_b == 0 && i->change == -50);
	i = item(&d, "io.by_call", "(unknown)", "total_ns");
	assert_true(i && i->change == 0);
	i = item(&d, "io", "", "speed");
	assert_true(i->mean_a == 100 && i->mean_b == 120);
	i = item(&d, "io.by_file", "/a", "count"); /* named by its path, not by its first text */
	assert_true(i->mean_a == 200 && i->mean_b == 240);
	i = item(&d, "network.matrix", "a to b", "bytes"); /* though it is a detail */
	assert_true(i->mean_a == 2000 && i->mean_b == 2400);
	/* Not a quantity, not of the program, not recorded, a detail, only the first measure of a row. */
	assert_null(item(&d, "", "", "start_ns"));
	assert_null(item(&d, "", "", "pid"));
	assert_null(item(&d, "io", "", "share"));
	assert_null(item(&d, "losses", "", "lost"));
	assert_null(item(&d, "gpu", "", "busy_ns"));
	assert_null(item(&d, "io.details", "detail", "total_ns"));
	assert_null(item(&d, "io.by_call", "read", "count"));
	assert_int_equal(d.count, 7);
	/* By size of the change: times, then the others. */
	assert_string_equal(d.items[0].name, "read");
	assert_string_equal(d.items[1].key, "wall_ns");
	assert_string_equal(d.items[2].name, "write");
	assert_string_equal(d.items[3].name, "(unknown)");
	assert_string_equal(d.items[4].name, "a to b");
	assert_string_equal(d.items[5].name, "/a");
	assert_string_equal(d.items[6].key, "speed");
	assert_true(fabs(d.ratio - 1.2) < 1e-12);
	assert_true(isnan(d.lo) && isnan(d.hi));
	assert_int_equal(d.verdict, DIFF_SLOWER);
	diff_release(&d);
}

static enum diff_verdict verdict_of(int64_t a, int64_t b, double threshold)
{
	enum diff_verdict v;
	struct diff d;

	diff_init(&d, 1, 1);
	take(&d, false, 0, a, 10, 0);
	take(&d, true, 0, b, 10, 0);
	assert_int_equal(diff_finish(&d, threshold, NULL), 0);
	v = d.verdict;
	diff_release(&d);
	return v;
}

static void thresholds(void **state)
{
	(void)state;
	assert_int_equal(verdict_of(1000, 1101, 0.1), DIFF_SLOWER);
	assert_int_equal(verdict_of(1000, 1099, 0.1), DIFF_SAME);
	assert_int_equal(verdict_of(1100, 1001, 0.1), DIFF_SAME);
	assert_int_equal(verdict_of(1100, 999, 0.1), DIFF_FASTER);
	assert_int_equal(verdict_of(1000, 0, 0.1), DIFF_UNKNOWN);
	assert_int_equal(verdict_of(0, 1000, 0.1), DIFF_UNKNOWN);
	assert_string_equal(diff_verdict_word(DIFF_UNKNOWN), "inconclusive");
	assert_string_equal(diff_verdict_word(DIFF_SAME), "equivalent");
	assert_string_equal(diff_verdict_word(DIFF_SLOWER), "slower");
	assert_string_equal(diff_verdict_word(DIFF_FASTER), "faster");
}

/* Three runs each: the interval of Welch's t. */
static void several_runs(void **state)
{
	static const int64_t a[] = { 1000, 1010, 990 }, b[] = { 1100, 1110, 1090 }, wide[] = { 800, 1200, 1450 };
	const struct diff_item *i;
	struct diff d;

	(void)state;
	diff_init(&d, 3, 3);
	for (size_t k = 0; k < 3; k++)
		take(&d, false, k, a[k], 100, 0);
	for (size_t k = 0; k < 3; k++)
		take(&d, true, k, b[k], k ? 100 : 130, 0);
	assert_int_equal(diff_finish(&d, 0.05, NULL), 0);
	i = item(&d, "", "", "wall_ns");
	assert_true(i->change == 100 && i->is_sure);
	/* The standard error is 8.165, t of 4 degrees of freedom 2.776: 100 +- 22.67. */
	assert_true(fabs(i->lo - 77.33) < 0.01 && fabs(i->hi - 122.67) < 0.01);
	i = item(&d, "io.by_call", "read", "total_ns");
	assert_true(i->change == 10 && !i->is_sure && i->lo < 0 && i->hi > 0);
	assert_true(d.ratio > 1.0999 && d.ratio < 1.1001);
	assert_true(d.lo > 1.07 && d.lo < 1.08 && d.hi > 1.12 && d.hi < 1.13);
	assert_int_equal(d.verdict, DIFF_SLOWER);
	/* A sure change comes first, however small. */
	assert_string_equal(d.items[0].key, "wall_ns");
	assert_true(d.items[0].is_sure && !d.items[d.count - 1].is_sure);
	diff_release(&d);

	diff_init(&d, 3, 3);
	for (size_t k = 0; k < 3; k++)
		take(&d, false, k, a[k], 100, 0);
	for (size_t k = 0; k < 3; k++)
		take(&d, true, k, wide[k], 100, 0);
	assert_int_equal(diff_finish(&d, 0.05, NULL), 0);
	assert_int_equal(d.verdict, DIFF_UNKNOWN);
	diff_release(&d);

	diff_init(&d, 2, 3);
	for (size_t k = 0; k < 2; k++)
		take(&d, false, k, a[k], 100, 0);
	for (size_t k = 0; k < 3; k++)
		take(&d, true, k, a[k] + (int64_t)k, 100, 0);
	assert_int_equal(diff_finish(&d, 0.05, NULL), 0);
	assert_int_equal(d.verdict, DIFF_SAME);
	assert_true(d.lo < 1 && d.hi > 1);
	diff_release(&d);
}

/* A run without a table has no values for it, and so the means are unknown. */
static void tables_that_one_run_lacks(void **state)
{
	struct analyze_result r = { .error = 0 };
	struct analyze_section *s;
	const struct diff_item *i;
	struct diff d;

	(void)state;
	diff_init(&d, 1, 1);
	take(&d, false, 0, 1000, 200, 50);
	s = analyze_section(&r, "overview", "Overview");
	s->is_top = true;
	analyze_int(s, "wall_ns", "wall time", ANALYZE_NS, 1000);
	assert_int_equal(diff_add(&d, true, 0, &r, NULL), 0);
	analyze_result_release(&r);
	assert_int_equal(diff_finish(&d, 0.05, NULL), 0);
	i = item(&d, "io.by_call", "read", "total_ns");
	assert_true(i->mean_a == 200 && isnan(i->mean_b) && isnan(i->change));
	assert_string_equal(d.items[0].key, "wall_ns"); /* what is unknown comes last */
	assert_int_equal(d.verdict, DIFF_SAME);
	diff_release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_run_each),
		cmocka_unit_test(thresholds),
		cmocka_unit_test(several_runs),
		cmocka_unit_test(tables_that_one_run_lacks),
	};

	return RUN_TESTS(tests);
}
