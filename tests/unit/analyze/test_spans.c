/* Spans and their self time, regions by name, iterations, high-counter regions. */
#include "truth.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define OPTS(...) (&(struct analyze_opts){ .threads = 1, .part = { 0, 1 }, __VA_ARGS__ })

static void span(struct truth *t, const char *name, const char *category, int tid, int64_t from_ns, int64_t to_ns)
{
	truth_row(t, "span", "ts_ns dur_ns process pid tid name category depth is_open", "%lld %lld 1 10 %d %s %s 0 0",
			(long long)(T0 + from_ns), (long long)(to_ns - from_ns), tid, name, category);
}

/* Two nested spans in one thread, and one in another at the same time. Rows are in order of ends. */
static void add_spans(struct truth *t)
{
	span(t, "inner", "x", 10, 110, 150);
	span(t, "leaf", "-", 10, 170, 175);
	span(t, "inner", "x", 10, 160, 190);
	span(t, "inner", "y", 11, 120, 195);
	span(t, "outer", "x", 10, 100, 200);
	span(t, "outer", "x", 10, 300, 310);
}

static const char spans_text[] = "by_name:\n"
				 "inner y 1 75 75 75 75 75 75 75\n"
				 "inner x 2 70 65 30 30 35 30 40\n"
				 "outer x 2 110 40 10 10 55 10 100\n"
				 "leaf - 1 5 5 5 5 5 5 5\n";

static void self_time(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	add_spans(&t);
	truth_analyze(&t, NULL);
	truth_expect(&t, "spans", spans_text);
	truth_analyze(&t, OPTS(.top = 1));
	truth_expect(&t, "spans", "by_name:\ninner y 1 75 75 75 75 75 75 75\nof 4\n");
	/* Clipped to the region: outer 140-180 holds inner 140-150 and 160-180, which holds leaf. */
	truth_analyze(&t, OPTS(.has_range = true, .from_ns = T0 + 140, .to_ns = T0 + 180));
	assert_string_equal(truth_cell(&t, "spans", "by_name", "outer", "self_ns"), "10");
	/* One `inner x` of two starts in it, and its mean is that of whole durations, not 30 divided by 1. */
	assert_string_equal(truth_cell(&t, "spans", "by_name", "leaf", "count"), "1");
	truth_table(&t, "spans", "by_name",
			"inner y 0 40 40 - - - - -\n"
			"inner x 1 30 25 30 30 30 30 30\n"
			"outer x 0 40 10 - - - - -\n"
			"leaf - 1 5 5 5 5 5 5 5\n");
	truth_end(&t);
}

/* A table in another order gives the same. */
static void self_time_in_any_order(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	span(&t, "outer", "x", 10, 300, 310);
	span(&t, "outer", "x", 10, 100, 200);
	span(&t, "inner", "x", 10, 160, 190);
	span(&t, "inner", "y", 11, 120, 195);
	span(&t, "leaf", "-", 10, 170, 175);
	span(&t, "inner", "x", 10, 110, 150);
	truth_analyze(&t, NULL);
	truth_expect(&t, "spans", spans_text);
	truth_end(&t);
}

static void regions_by_name(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	int64_t from, to;
	struct truth t;

	(void)state;
	truth_start(&t);
	add_spans(&t);
	truth_row(&t, "step", "ts_ns process pid tid name index", "1500 1 10 10 epoch 0");
	truth_row(&t, "step", "ts_ns process pid tid name index", "1700 1 10 10 epoch 1");
	truth_row(&t, "step", "ts_ns process pid tid name index", "1050 1 10 10 leaf 1");
	truth_open(&t);
	assert_int_equal(analyze_named_range(t.run, "outer", &from, &to, &err), 0);
	assert_int_equal(from, T0 + 100);
	assert_int_equal(to, T0 + 310);
	assert_int_equal(analyze_named_range(t.run, "epoch", &from, &to, &err), 0);
	assert_int_equal(from, 1500);
	assert_int_equal(to, 1700);
	assert_int_equal(analyze_named_range(t.run, "leaf", &from, &to, &err), 0);
	assert_int_equal(from, 1050);
	assert_int_equal(to, T0 + 175);
	assert_int_equal(analyze_named_range(t.run, "nothing", &from, &to, &err), -ENOENT);
	assert_non_null(strstr(err.text, "nothing"));
	truth_end(&t);
}

static void steps_are_iterations(void **state)
{
	static const int64_t at[] = { 100, 200, 310, 400, 520 };
	struct truth t;

	(void)state;
	truth_start(&t);
	for (size_t i = 0; i < 5; i++)
		truth_row(&t, "step", "ts_ns process pid tid name index", "%lld 1 10 10 epoch %zu",
				(long long)(T0 + at[i] * MS), i);
	truth_row(&t, "step", "ts_ns process pid tid name index", "%lld 2 20 20 epoch 0", T0 + 150 * MS);
	truth_row(&t, "step", "ts_ns process pid tid name index", "%lld 2 20 20 epoch 1", T0 + 230 * MS);
	truth_row(&t, "step", "ts_ns process pid tid name index", "%lld 2 20 21 epoch 1", T0 + 240 * MS);
	truth_row(&t, "step", "ts_ns process pid tid name index", "%lld 1 10 10 batch 1", T0 + 240 * MS);
	truth_row(&t, "step", "ts_ns process pid tid name index", "%lld 1 10 10 batch 1", T0 + 245 * MS);
	truth_analyze(&t, NULL);
	truth_expect(&t, "iterations",
			"source steps\n"
			"by_name:\n"
			"epoch 5 2 1e+08 1.58114e+07 99876176 80000000 109837710 120000000 10\n"
			"batch 1 1 5e+06 - 5000000 5000000 5000000 5000000 200\n");
	truth_end(&t);
}

/* 20 iterations of open, read, read, write, with a pause, after some start-up. */
static void loops_are_detected(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	bundle_file(&t.bundle, 1, STORE_NULL, "/data/a");
	truth_row(&t, "process", "process pid exe start_ns end_ns", "1 10 /bin/one 1000 1000001000");
	truth_call(&t, "stat", 0, 10, 1, 0);
	truth_call(&t, "connect", 20, 10, 1, 0);
	for (int i = 0; i < 20; i++) {
		int64_t at = (50 + 40 * i) * MS;

		truth_call(&t, "open", at, 1 * MS, 1, 3);
		truth_call(&t, "read", at + 2 * MS, 5 * MS, 1, 100);
		truth_call(&t, "read", at + 8 * MS, 5 * MS, 1, 100);
		truth_call(&t, "write", at + 14 * MS, 6 * MS, 1, 100);
	}
	truth_analyze(&t, OPTS(.iterations = 2));
	truth_expect(&t, "iterations",
			"source found in calls\n"
			"tid 10\n"
			"count 20\n"
			"confidence 1\n"
			"events 82\n"
			"note -\n"
			"by_name:\n"
			"open 20 1 3.9e+07 4.47214e+06 40000000 20000000 40000000 40000000 25.641\n"
			"each:\n"
			"0 50000000 40000000\n"
			"1 90000000 40000000\n"
			"of 20\n");
	truth_end(&t);
}

/* Reads of files of different sizes: repetitions of a call count as one. */
static void loops_of_different_lengths(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	bundle_file(&t.bundle, 1, STORE_NULL, "/data/a");
	truth_row(&t, "process", "process pid exe start_ns end_ns", "1 10 /bin/one 1000 1000001000");
	for (int i = 0; i < 24; i++) {
		int64_t at = 40 * i * MS;

		truth_call(&t, "open", at, 1 * MS, 1, 3);
		for (int k = 0; k < 1 + (i * 7) % 5; k++)
			truth_call(&t, "read", at + (2 + k) * MS, 500000, 1, 100);
		truth_call(&t, "write", at + 14 * MS, 6 * MS, 1, 100);
	}
	truth_analyze(&t, OPTS(.iterations = 1));
	truth_field(&t, "iterations", "count", 24);
	truth_table(&t, "iterations", "each", "0 0 40000000\nof 24\n");
	truth_end(&t);
}

/* One call per iteration: pauses separate them. Without a pause there is no loop. */
static void pauses_separate_iterations(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	bundle_file(&t.bundle, 1, STORE_NULL, "/data/a");
	truth_row(&t, "process", "process pid exe start_ns end_ns", "1 10 /bin/one 1000 1000001000");
	for (int i = 0; i < 20; i++)
		for (int k = 0; k < 3 + i % 3; k++)
			truth_call(&t, "read", 50 * i * MS + k * 1000, 900, 1, 100);
	truth_analyze(&t, OPTS(.iterations = 3));
	truth_expect(&t, "iterations",
			"source found in calls\n"
			"tid 10\n"
			"count 6\n"
			"confidence 1\n"
			"events 79\n"
			"note -\n"
			"by_name:\n"
			"read 6 1 1.5e+08 40.8248 150000000 149999900 150000000 150000000 6.66667\n"
			"each:\n"
			"0 1000 150000000\n"
			"1 150001000 150000000\n"
			"2 300001000 150000000\n"
			"of 6\n");
	truth_end(&t);
}

/* Calls that load code repeat at start-up; they are no iterations unless they are most of the run. */
static void code_is_no_iteration(void **state)
{
	struct truth t;

	(void)state;
	truth_start(&t);
	bundle_file(&t.bundle, 1, STORE_NULL, "/usr/lib/python3/os.py");
	bundle_file(&t.bundle, 2, STORE_NULL, "/home/me/x.so");
	truth_row(&t, "process", "process pid exe start_ns end_ns", "1 10 /bin/one 1000 1000001000");
	for (int i = 0; i < 40; i++) {
		truth_call(&t, "stat", i * MS, 1000, 1 + i % 2, 0);
		truth_call(&t, "open", i * MS + 2000, 1000, 1 + i % 2, 3);
		truth_call(&t, "read", i * MS + 4000, 1000, 1 + i % 2, 100);
	}
	truth_analyze(&t, NULL);
	truth_expect(&t, "iterations",
			"absent the program announced no steps (sonde_step), and no loop was detected\n");
	truth_end(&t);
}

static void process(struct truth *t, int number, int parent, const char *exe, int64_t from_ns, int64_t to_ns)
{
	char above[16] = "-";

	if (parent)
		snprintf(above, sizeof(above), "%d", parent);
	truth_row(t, "process", "process pid ppid parent exe start_ns end_ns", "%d %d 1 %s %s %lld %lld", number,
			number * 10, above, exe, (long long)(T0 + from_ns), (long long)(T0 + to_ns));
}

/* A shell that starts three programs, ten times. */
static void programs_are_iterations(void **state)
{
	static const char *const programs[] = { "/bin/tar", "/bin/gzip", "/bin/cp" };
	struct truth t;

	(void)state;
	truth_start(&t);
	process(&t, 1, 0, "/bin/sh", 0, 1 * S);
	for (int i = 0; i < 30; i++)
		process(&t, 2 + i, 1, programs[i % 3], (10 + 30 * i) * MS, (35 + 30 * i) * MS);
	truth_analyze(&t, OPTS(.iterations = 2));
	truth_expect(&t, "iterations",
			"source found in the programs that it starts\n"
			"tid 10\n"
			"count 10\n"
			"confidence 1\n"
			"events 30\n"
			"note -\n"
			"by_name:\n"
			"/bin/tar 10 1 8.7e+07 9.48683e+06 90000000 60000000 90000000 90000000 11.4943\n"
			"each:\n"
			"0 10000000 90000000\n"
			"1 100000000 90000000\n"
			"of 10\n");
	truth_end(&t);
}

/* A level that is high from 300 to 600 ms, and a total that rises then. */
static void high_counter_regions(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	int64_t from, to;
	double total = 0;
	struct truth t;
	static const int shape[] = { 9, 9, 0, 0, 9, 5, 9, 0, 0, 0, 0, 10, 9, 5, 0, 0, 9, 2, 1, 0, 9, 0, 0, 0, 9, 9, 0,
		0 };
	static const int gaps[][2] = { { 0, 9 }, { 10, 9 }, { 20, 9 }, { 30, 9 }, { 60, 0 }, { 70, 9 }, { 80, 9 } };

	(void)state;
	truth_start(&t);
	truth_row(&t, "series", "name unit is_total", "total bytes 1");
	truth_row(&t, "series", "name unit is_total", "level percent 0");
	for (int i = 0; i < 100; i++) {
		double level = i >= 30 && i < 60 ? 80 : i == 80 ? 90 : 3;

		total += level;
		truth_row(&t, "counter", "ts_ns name value", "%lld level %g", T0 + 10 * i * MS, level);
		truth_row(&t, "counter", "ts_ns name value", "%lld total %g", T0 + 10 * i * MS, total);
		truth_row(&t, "counter", "ts_ns name value", "%lld flat 5", T0 + 10 * i * MS);
	}
	for (size_t i = 0; i < sizeof(shape) / sizeof(*shape); i++)
		truth_row(&t, "counter", "ts_ns name value", "%lld shape %d", T0 + 10 * (int64_t)i * MS, shape[i]);
	for (size_t i = 0; i < sizeof(gaps) / sizeof(*gaps); i++)
		truth_row(&t, "counter", "ts_ns name value", "%lld gaps %d", T0 + gaps[i][0] * MS, gaps[i][1]);
	for (int i = 0; i < 10; i++)
		truth_row(&t, "counter", "ts_ns name value", "%lld never 0", T0 + i * MS);
	truth_open(&t);
	assert_int_equal(analyze_spotlight(t.run, "level", &from, &to, &err), 0);
	assert_int_equal(from, T0 + 300 * MS);
	assert_int_equal(to, T0 + 590 * MS);
	assert_int_equal(analyze_spotlight(t.run, "total", &from, &to, &err), 0);
	assert_int_equal(from, T0 + 300 * MS);
	assert_int_equal(to, T0 + 590 * MS);
	/* Two high values are too short; three low ones end a region, two do not; the second region is longer. */
	assert_int_equal(analyze_spotlight(t.run, "shape", &from, &to, &err), 0);
	assert_int_equal(from, T0 + 110 * MS);
	assert_int_equal(to, T0 + 200 * MS);
	/* A gap stands for the values that did not change. */
	assert_int_equal(analyze_spotlight(t.run, "gaps", &from, &to, &err), 0);
	assert_int_equal(from, T0);
	assert_int_equal(to, T0 + 30 * MS);
	assert_int_equal(analyze_spotlight(t.run, "flat", &from, &to, &err), 0);
	assert_int_equal(to - from, 990 * MS);
	assert_int_equal(analyze_spotlight(t.run, "never", &from, &to, &err), -ENOENT);
	assert_int_equal(analyze_spotlight(t.run, "nothing", &from, &to, &err), -ENOENT);
	truth_end(&t);
}

/* Without spans the steps have names; what is not there is said with what there is. */
static void regions_have_errors(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	int64_t from, to;
	struct truth t;

	(void)state;
	truth_start(&t);
	truth_row(&t, "step", "ts_ns process pid tid name index", "1500 1 10 10 epoch 0");
	truth_row(&t, "step", "ts_ns process pid tid name index", "1700 1 10 10 epoch 1");
	truth_row(&t, "counter", "ts_ns name value", "1500 alone 3");
	truth_row(&t, "counter", "ts_ns name value", "1600 alone -");
	truth_open(&t);
	assert_int_equal(analyze_named_range(t.run, "epoch", &from, &to, &err), 0);
	assert_int_equal(from, 1500);
	assert_int_equal(to, 1700);
	assert_int_equal(analyze_named_range(t.run, "none", &from, &to, &err), -ENOENT);
	assert_string_equal(err.text, "span or step 'none' not found");
	assert_string_equal(err.hint, "a region is the name of a span or step, or two times since the start: 1s,2.5s");
	assert_int_equal(analyze_spotlight(t.run, "none", &from, &to, &err), -ENOENT);
	assert_string_equal(err.text, "counter 'none' not found");
	assert_non_null(strstr(err.hint, "'SELECT DISTINCT name FROM counter'"));
	assert_int_equal(analyze_spotlight(t.run, "alone", &from, &to, &err), -ENOENT);
	assert_string_equal(err.text, "the counter 'alone' has no high region");
	truth_end(&t);
}

/* The usual time between values is the median of 10, 10, 30 and 40: a low value after 30 stands for one, not three. */
static void gaps_are_of_the_median(void **state)
{
	static const int at[][2] = { { 0, 9 }, { 10, 9 }, { 20, 9 }, { 50, 0 }, { 90, 9 } };
	struct sonde_err err = SONDE_ERR_INIT;
	int64_t from, to;
	struct truth t;

	(void)state;
	truth_start(&t);
	for (size_t i = 0; i < 5; i++)
		truth_row(&t, "counter", "ts_ns name value", "%lld level %d", T0 + at[i][0] * MS, at[i][1]);
	truth_open(&t);
	assert_int_equal(analyze_spotlight(t.run, "level", &from, &to, &err), 0);
	assert_int_equal(from, T0);
	assert_int_equal(to, T0 + 90 * MS);
	truth_end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(self_time),
		cmocka_unit_test(self_time_in_any_order),
		cmocka_unit_test(regions_by_name),
		cmocka_unit_test(steps_are_iterations),
		cmocka_unit_test(loops_are_detected),
		cmocka_unit_test(loops_of_different_lengths),
		cmocka_unit_test(pauses_separate_iterations),
		cmocka_unit_test(code_is_no_iteration),
		cmocka_unit_test(programs_are_iterations),
		cmocka_unit_test(high_counter_regions),
		cmocka_unit_test(regions_have_errors),
		cmocka_unit_test(gaps_are_of_the_median),
	};

	return RUN_TESTS(tests);
}
