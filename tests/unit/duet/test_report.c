/* report: a comparison in sentences, JSON, CSV, Markdown and HTML, from results that are set by hand. */
#include "../support.h"

#include "base/cleanup.h"
#include "duet/duet-report.h"
#include "duet/explain.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define SECOND INT64_C(1000000000)
#define MS 1000000

/*
 * Two runs of two pairs each. Times are in ms: the first run starts at 100 and ends at 200, A has 10 and 20, B 11 and
 * 30. A's first iteration starts with the run, B's 5 ms later; the second of each at 50.
 */
struct world {
	struct duet_setup setup;
	struct duet_result result;
	struct duet_entry entry;
	struct duet_report report;
	struct duet_run runs[2];
	double x[4];
	size_t first[3], a[4], b[4];
};

static struct stats_interval interval(double estimate, double lo, double hi)
{
	struct stats_interval i = stats_interval_open(estimate, 2, 0.95, "ranks");

	i.lo = lo;
	i.hi = hi;
	return i;
}

static void set_ratio(struct duet_result *r, double estimate, double lo, double hi)
{
	r->effect.ratio = interval(estimate, lo, hi);
	r->effect.log_ratio = interval(log(estimate), log(lo), log(hi));
}

static void add(struct duet_samples *s, int64_t start_ms, int64_t ms)
{
	struct duet_iteration it = duet_iteration_at(start_ms * MS, (start_ms + ms) * MS);

	it.metrics[DUET_RSS] = 1048576;
	assert_int_equal(duet_samples_add(s, &it), 0);
}

static void make(struct world *w)
{
	*w = (struct world){
		.setup = { .pairing = { .metric = DUET_WALL }, .margin = 1.1, .level = 0.95, .seed = 42 }
	};
	for (int i = 0; i < 2; i++) {
		int64_t from = 100 + 200 * i;

		w->runs[i] = (struct duet_run){ .number = (size_t)i,
			.design = DUET_ASYNC,
			.is_first_b = i == 1,
			.is_swapped = i == 1,
			.start_ns = from * MS,
			.end_ns = (from + 100) * MS };
		add(&w->runs[i].sides[DUET_A], from, 10);
		add(&w->runs[i].sides[DUET_A], from + 50, 20);
		add(&w->runs[i].sides[DUET_B], from + 5, 11);
		add(&w->runs[i].sides[DUET_B], from + 50, 30);
	}
	for (size_t i = 0; i < 4; i++) {
		w->x[i] = i % 2 ? log(1.5) : log(1.1);
		w->a[i] = w->b[i] = i % 2;
	}
	w->first[1] = 2;
	w->first[2] = 4;
	w->result = (struct duet_result){ .schedule = { .design = DUET_ASYNC, .turns = 2, .runs_max = 40 },
		.runs = w->runs,
		.run_count = 2,
		.pairs = { .x = w->x, .first = w->first, .a = w->a, .b = w->b, .runs = 2, .count = 4 },
		.verdict = STATS_SLOWER,
		.stop = DUET_DECIDED,
		.looks = 3,
		.seconds = 1.25,
		.run_seconds = 0.5,
		.detectable = 1.25 };
	set_ratio(&w->result, 1.2, 1.1, 1.3);
	w->result.cpu.estimate = w->result.effect.p = NAN;
	w->entry = (struct duet_entry){ .commands = { "old | a", "new <b>" }, .result = &w->result, .p_adjusted = NAN };
	w->report = (struct duet_report){ .entries = &w->entry,
		.count = 1,
		.setup = &w->setup,
		.interference = { .steal_share = 0.01, .pressure_share = 0.25 },
		.mean = interval(1.05, 1.02, 1.08),
		.seconds = 2.5 };
}

static void release(struct world *w)
{
	for (int i = 0; i < 2; i++)
		duet_run_release(&w->runs[i]);
}

/* Compares the text and empties the buffer. */
static void is(struct buf *out, const char *expected)
{
	assert_string_equal(out->data, expected);
	buf_reset(out);
}

static void has(const struct buf *out, const char *part)
{
	if (!strstr(out->data, part))
		fail_msg("'%s' is not in:\n%s", part, out->data);
}

static void changes_have_fitting_digits(void **state)
{
	static const struct {
		double ratio;
		const char *text;
	} cases[] = { { 1.042, "4.2 % slower" }, { 0.5, "50.0 % faster" },
		{ 1.0005,
				"0.050 % "
				"slower" },
		{ 1.005, "0.50 % slower" }, { 3, "200 % slower" }, { 2.001, "100 % slower" }, { 1.01, "1.0 % slower" },
		{ NAN,
				"not "
				"known" },
		{ INFINITY, "not known" } };
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct stats_interval i = interval(1.2, 1.1, 1.3);
	const struct duet_pairing wall = { .metric = DUET_WALL };

	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		duet_say_change(&out, &wall, cases[k].ratio);
		is(&out, cases[k].text);
	}
	duet_say_interval(&out, &i);
	is(&out, "95 % interval +10.0 to +30.0 %");
	duet_say_estimate(&out, &i);
	is(&out, "+20.0 %");
	i = interval(0.5, 0, INFINITY);
	duet_say_bounds(&out, &i);
	is(&out, "not known");
	i = interval(1, -INFINITY, 2);
	duet_say_bounds(&out, &i);
	is(&out, "-∞ to +100 %");
	i = interval(1.0012, 1.0011, 1.0013);
	duet_say_estimate(&out, &i);
	is(&out, "+0.120 %");
	i.estimate = NAN;
	duet_say_estimate(&out, &i);
	is(&out, "not known");
}

static void values_have_units(void **state)
{
	static const struct {
		enum duet_metric metric;
		double value;
		const char *text;
	} cases[] = { { DUET_WALL, 90e9, "1.5 min" }, { DUET_WALL, 60e9, "1 min" },
		{ DUET_CPU, 59e9,
				"59 "
				"s" },
		{ DUET_WALL, 1e9, "1 s" }, { DUET_USER, 12.3e6, "12.3 ms" }, { DUET_SYSTEM, 4500, "4.5 µs" },
		{ DUET_WALL, 999,
				"999 "
				"ns" },
		{ DUET_WALL, 0.5, "0.5 ns" },
		{ DUET_RSS, 3 << 20,
				"3.0 "
				"MiB" },
		{ DUET_FAULTS, 12345, "1.234e+04" }, { DUET_VALUE, 2.5, "2.5" },
		{ DUET_RSS, NAN,
				"not "
				"known" } };
	CLEANUP(buf_release) struct buf out = BUF_INIT;

	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		duet_say_value(&out, cases[k].metric, cases[k].value);
		is(&out, cases[k].text);
	}
}

static void answers_are_sentences(void **state)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct world w;

	make(&w);
	duet_say_answer(&out, &w.report, &w.entry);
	is(&out, "B is 20.0 % slower than A (95 % interval +10.0 to +30.0 %, 2 runs with 4 pairs in 1.2 s)");
	set_ratio(&w.result, 3, 2.5, 3.5);
	w.result.run_count = w.result.pairs.count = 1;
	duet_say_answer(&out, &w.report, &w.entry);
	is(&out, "B is 200 % slower than A, a ratio of 3 (95 % interval +150 to +250 %, 1 run in 1.2 s)");
	w.result.verdict = STATS_FASTER;
	set_ratio(&w.result, 0.4, 0.3, 0.45);
	duet_say_answer(&out, &w.report, &w.entry);
	is(&out, "B is 60.0 % faster than A, a ratio of 0.4 (95 % interval -70.0 to -55.0 %, 1 run in 1.2 s)");
	w.result.verdict = STATS_EQUIVALENT;
	set_ratio(&w.result, 1.02, 0.99, 1.05);
	duet_say_answer(&out, &w.report, &w.entry);
	is(&out,
			"B and A are equivalent within 10 %: B is 2.0 % slower (95 % interval -1.0 to +5.0 %, 1 run "
			"in 1.2 "
			"s)");
	w.result.verdict = STATS_INCONCLUSIVE;
	duet_say_answer(&out, &w.report, &w.entry);
	is(&out,
			"not decided whether B differs from A by more than 10 %: 2.0 % slower (95 % interval -1.0 "
			"to +5.0 "
			"%, 1 run in 1.2 s)");
	set_ratio(&w.result, 1.1, 1.05, 1.2);
	duet_say_answer(&out, &w.report, &w.entry);
	is(&out,
			"B is slower than A, but whether by more than 10 % is not decided: 10.0 % slower (95 % "
			"interval "
			"+5.0 to +20.0 %, "
			"1 run in 1.2 s)");
	set_ratio(&w.result, 0.9, 0.8, 0.95);
	duet_say_answer(&out, &w.report, &w.entry);
	has(&out, "B is faster than A, but whether by more than 10 % is not decided: ");
	buf_reset(&out);
	w.result.effect.is_indicative = true;
	duet_say_answer(&out, &w.report, &w.entry);
	has(&out, "not decided whether B differs from A by more than 10 %: ");
	buf_reset(&out);
	w.result.effect.ratio.estimate = NAN;
	duet_say_answer(&out, &w.report, &w.entry);
	is(&out, "nothing was measured");
	release(&w);
}

static void needs_name_a_budget(void **state)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct world w;

	make(&w);
	duet_say_need(&out, &w.report, &w.entry);
	is(&out, "");
	w.result.verdict = STATS_INCONCLUSIVE;
	duet_say_need(&out, &w.report, &w.entry);
	is(&out,
			"the change is as good as the threshold itself: no number of runs will tell; choose another "
			"--threshold");
	w.result.needed_runs = 2;
	duet_say_need(&out, &w.report, &w.entry);
	is(&out, "it was close: a few runs more would decide it");
	w.result.needed_runs = 3;
	w.result.needed_seconds = 10;
	duet_say_need(&out, &w.report, &w.entry);
	is(&out, "about 3 runs would decide it");
	w.setup.budget_ns = SECOND;
	duet_say_need(&out, &w.report, &w.entry);
	is(&out, "about 3 runs would decide it: --budget 15s"); /* 1.3 * 10 + 2 */
	w.result.needed_seconds = 100;
	duet_say_need(&out, &w.report, &w.entry);
	is(&out, "about 3 runs would decide it: --budget 180s"); /* 132, in minutes */
	w.result.needed_runs = 2;
	duet_say_need(&out, &w.report, &w.entry);
	is(&out, "it was close: run it again, or with a little more --budget");
	w.result.run_count = 1;
	duet_say_need(&out, &w.report, &w.entry);
	is(&out, "one run is not enough evidence; --budget 11s allows five"); /* 7 * (0.5 + 1) */
	w.setup.budget_ns = 0;
	duet_say_need(&out, &w.report, &w.entry);
	is(&out, "one run is not enough evidence; use at least five");
	w.result.effect.ratio.estimate = NAN;
	duet_say_need(&out, &w.report, &w.entry);
	is(&out, "");
	release(&w);
}

static void pilots_are_reasons(void **state)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct duet_result r = { .schedule = { .design = DUET_RMIT } };

	r.choices[DUET_RMIT] =
			(struct duet_choice){ .is_tried = true, .variance = 0.0004, .run_seconds = 0.5, .cost = 2 };
	r.choices[DUET_ASYNC] =
			(struct duet_choice){ .is_tried = true, .variance = NAN, .run_seconds = 0.25, .cost = 3 };
	r.choices[DUET_SYNC].cost = 1; /* not tried */
	duet_say_pilot(&out, &r);
	is(&out, "the best for its time: rmit (spread 2.00 %, 0.50 s a run) async (too few pairs, 0.25 s a run)");
	r.choices[DUET_ASYNC].cost = 1;
	duet_say_pilot(&out, &r);
	has(&out, "no other was clearly better: rmit");
	buf_reset(&out);
	assert_string_equal(duet_stop_names[DUET_DECIDED], "decided");
	assert_string_equal(duet_stop_names[DUET_BUDGET_OVER], "budget");
	assert_string_equal(duet_stop_names[DUET_RUNS_OVER], "runs");
	assert_string_equal(duet_stop_names[DUET_INTERRUPTED], "interrupted");
	assert_string_equal(duet_stop_names[DUET_FAILED], "failed");
}

/* The only warning there is; "" for none. */
static const char *warning(struct world *w, size_t cpus)
{
	static struct arena arena = ARENA_INIT;
	static const char *texts[16];
	size_t n = duet_warnings(&w->setup, &w->result, &w->report.interference, cpus, texts, 16, &arena);

	assert_true(n <= 1);
	return n ? texts[0] : "";
}

static void doubts_are_warnings(void **state)
{
	struct arena arena = ARENA_INIT;
	const char *texts[2];
	struct world w;

	make(&w);
	assert_string_equal(warning(&w, 2), "");
	assert_non_null(strstr(warning(&w, 1), "there is one CPU only"));
	w.result.stop = DUET_INTERRUPTED;
	assert_string_equal(warning(&w, 2), "interrupted; results so far");
	w.result.stop = DUET_DECIDED;
	w.report.interference.steal_share = 0.02;
	assert_string_equal(warning(&w, 2), "");
	w.report.interference.steal_share = 0.03;
	assert_string_equal(warning(&w, 2), "the hypervisor gave 3 % of the processor time to others");
	w.report.interference.steal_share = NAN;
	w.report.interference.pressure_share = 0.3;
	assert_string_equal(warning(&w, 2), "");
	w.report.interference.pressure_share = 0.31;
	assert_non_null(strstr(warning(&w, 2), "tasks waited for a CPU 31 % of the time"));
	w.setup.pairing.metric = DUET_CPU;
	assert_string_equal(warning(&w, 2), "");
	w.setup.pairing.metric = DUET_WALL;
	w.setup.has_priority = true;
	assert_string_equal(warning(&w, 2), "");
	w.result.verdict = STATS_INCONCLUSIVE;
	assert_string_equal(warning(&w, 2), "");
	w.result.cpu = interval(1.2, 1.15, 1.26); /* the other is 0.2 wide: less than twice */
	assert_string_equal(warning(&w, 2), "");
	w.result.cpu = interval(1.2, 1.15, 1.24);
	assert_non_null(strstr(warning(&w, 2), "tasks waited for a CPU 31 % of the time"));
	w.result.verdict = STATS_SLOWER;
	assert_string_equal(warning(&w, 2), "");
	w.report.interference.pressure_share = NAN;
	w.result.self = (struct duet_self_check){ .runs = 5, .ratio = interval(1.015, 1.01, 1.02), .is_biased = true };
	assert_string_equal(warning(&w, 2),
			"A compared with itself differs by +1.50 %: something favours a side on this machine");
	w.result.self.is_biased = false;
	w.result.run_count = 16;
	w.result.effect.run_correlation = 0.5;
	assert_string_equal(warning(&w, 2), "");
	w.result.effect.run_correlation = 0.51;
	assert_non_null(strstr(warning(&w, 2), "neighbouring runs resemble each other"));
	w.result.run_count = 8;
	w.result.effect.run_correlation = 0.72;
	assert_non_null(strstr(warning(&w, 2), "neighbouring runs resemble each other"));
	w.result.run_count = 7;
	w.result.effect.run_correlation = 1;
	assert_string_equal(warning(&w, 2), "");
	w.result.run_count = 2;
	w.result.pairs.unsettled = 1;
	assert_non_null(strstr(warning(&w, 2), "a side never reached a steady state"));
	w.result.pairs.unsettled = 0;
	w.result.pairs.missing = 1;
	assert_string_equal(warning(&w, 2), "1 pair was left out: a side had no wall, or 0 of it");
	w.result.pairs.missing = 2;
	assert_string_equal(warning(&w, 2), "2 pairs were left out: a side had no wall, or 0 of it");
	w.result.pairs.missing = 0;
	w.result.schedule.design = DUET_SYNC;
	assert_non_null(strstr(warning(&w, 2), "the slower command ends alone"));
	w.setup.has_own_iterations = true;
	assert_string_equal(warning(&w, 2), "");
	w.setup.has_own_iterations = false;
	w.setup.pairing.metric = DUET_CPU;
	assert_string_equal(warning(&w, 2), "");
	/* No more than asked for, and no circumstances are no doubt. */
	w.result.stop = DUET_INTERRUPTED;
	w.result.pairs.missing = w.result.pairs.unsettled = 1;
	assert_int_equal(duet_warnings(&w.setup, &w.result, NULL, 1, texts, 2, &arena), 2);
	assert_non_null(strstr(texts[1], "one CPU only"));
	arena_release(&arena);
	release(&w);
}

/* Reports of several benchmarks. */

#define RUNS 12

struct many {
	struct duet_setup setup;
	struct duet_result results[3];
	struct duet_entry entries[3];
	struct duet_report report;
	struct arena arena;
};

/* Twelve runs of one pair; the ratio of the i-th is the factor and a spread that alternates. */
static void judge(struct many *m, size_t i, const char *name, double factor, double spread)
{
	struct duet_run *runs = calloc(RUNS, sizeof(*runs));
	struct sonde_err err = SONDE_ERR_INIT;

	for (int k = 0; k < RUNS; k++) {
		struct duet_iteration a = duet_iteration_at(0, 1000000), b = duet_iteration_at(0, 1000000);

		b.metrics[DUET_WALL] *= factor * (1 + spread * (k % 4 - 1.5));
		runs[k].design = DUET_SEQ;
		assert_int_equal(duet_samples_add(&runs[k].sides[DUET_A], &a), 0);
		assert_int_equal(duet_samples_add(&runs[k].sides[DUET_B], &b), 0);
	}
	assert_int_equal(duet_judge(&m->setup, runs, RUNS, &m->results[i], &err), 0);
	m->entries[i] = (struct duet_entry){ .name = name, .result = &m->results[i] };
}

static void several_benchmarks_are_adjusted(void **state)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	double barely = 0;
	struct sonde_err err;
	struct many m = { .setup = { .pairing = { .metric = DUET_WALL }, .margin = 1.01, .level = 0.95, .interval = 1 },
		.arena = ARENA_INIT };

	judge(&m, 0, "much", 1.2, 0.001);
	judge(&m, 1, "none", 1, 0.001);
	/* The least change that is slower by its own interval: its p is just below 5 %, and not so for two tests. */
	for (double factor = 1.0105; m.results[2].verdict != STATS_SLOWER; factor += 0.0001) {
		duet_result_release(&m.results[2]);
		judge(&m, 2, "barely", factor, 0.0067);
		barely = factor;
	}
	m.report = (struct duet_report){ .entries = m.entries, .count = 3, .setup = &m.setup };
	assert_int_equal(m.results[0].verdict, STATS_SLOWER);
	assert_int_equal(m.results[1].verdict, STATS_EQUIVALENT);
	assert_int_equal(m.results[2].verdict, STATS_SLOWER);
	assert_int_equal(duet_report_finish(&m.report, &m.arena, &err), 0);
	assert_int_equal(m.results[0].verdict, STATS_SLOWER);
	assert_false(m.entries[0].is_held_back);
	assert_false(m.entries[1].is_held_back);
	assert_int_equal(m.results[1].verdict, STATS_EQUIVALENT);
	assert_true(m.entries[0].p_adjusted >= m.results[0].effect.p);
	assert_true(m.entries[0].p_adjusted <= 3 * m.results[0].effect.p);
	assert_int_equal(m.report.mean.n, 3);
	assert_true(fabs(m.report.mean.estimate - pow(1.2 * 1 * barely, 1.0 / 3)) < 0.001);
	assert_true(m.report.mean.lo < m.report.mean.estimate && m.report.mean.estimate < m.report.mean.hi);
	duet_say_held_back(&out, &m.report);
	assert_true(m.entries[2].is_held_back);
	assert_int_equal(m.results[2].verdict, STATS_INCONCLUSIVE);
	is(&out,
			"1 of 3 benchmarks is beyond the threshold by its own interval, but of as many benchmarks "
			"chance "
			"makes some: "
			"not counted (Holm)");
	m.entries[0].is_held_back = m.entries[2].is_held_back = true;
	duet_say_held_back(&out, &m.report);
	is(&out,
			"2 of 3 benchmarks are beyond the threshold by their own interval, but of as many benchmarks "
			"chance makes some: "
			"not counted (Holm)");
	for (int i = 0; i < 3; i++)
		duet_result_release(&m.results[i]);
	arena_release(&m.arena);
}

static void json_has_the_fields(void **state)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	static const char *const warnings[] = { "careful" };
	struct duet_cause cause = { "call", "read", 1, 2, 3, 4, interval(5, -1, 6) };
	struct duet_explanation explanation = { &cause, 1, 7 };
	struct world w;
	struct json j;

	make(&w);
	json_init(&j, &out, false);
	duet_report_json(&j, &w.report, false);
	is(&out,
			"{\"ratio\":1.2,\"lo\":1.1,\"hi\":1.3,\"verdict\":\"slower\",\"runs\":2,\"design\":\"async\","
			"\"metric\":\"wall\","
			"\"seconds\":1.25,\"level\":0.95,\"threshold\":0.1,\"method\":\"ranks\",\"pairs\":4,"
			"\"looks\":3,"
			"\"runs_max\":40,"
			"\"stop\":\"decided\",\"indicative\":false,\"detectable\":0.25,"
			"\"carry_over\":null,\"self_check\":null,"
			"\"a\":{\"command\":\"old | a\",\"wall\":15000000,\"rss\":1048576},"
			"\"b\":{\"command\":\"new <b>\",\"wall\":20500000,\"rss\":1048576},"
			"\"seed\":42,\"priority\":false,\"steal\":0.01,\"pressure\":0.25,\"repeat\":null,"
			"\"machine\":null,"
			"\"warnings\":[]}");
	w.result.self = (struct duet_self_check){ .runs = 5, .ratio = interval(1, 0.5, 2), .is_biased = true };
	w.result.is_design_piloted = true;
	w.result.choices[DUET_SEQ] = (struct duet_choice){ true, 3, 0.25, 1.5, 2 };
	w.result.needed_runs = 9;
	w.result.needed_seconds = 10;
	w.result.cpu = interval(1.5, 1.25, 1.75);
	w.result.schedule.runs_max = 0;
	w.report.explanation = &explanation;
	w.report.warnings = warnings;
	w.report.warning_count = 1;
	w.report.repeat = "again";
	w.report.machine = "here";
	w.runs[0].sides[DUET_A].count = w.runs[0].sides[DUET_B].count = 1;
	w.result.run_count = 1;
	json_init(&j, &out, false);
	duet_report_json(&j, &w.report, true);
	is(&out,
			"{\"ratio\":1.2,\"lo\":1.1,\"hi\":1.3,\"verdict\":\"slower\",\"runs\":1,\"design\":\"async\","
			"\"metric\":\"wall\","
			"\"seconds\":1.25,\"level\":0.95,\"threshold\":0.1,\"method\":\"ranks\",\"pairs\":4,"
			"\"looks\":3,"
			"\"stop\":\"decided\",\"indicative\":false,\"detectable\":0.25,\"needed_runs\":9,"
			"\"needed_seconds\":10,"
			"\"cpu\":{\"ratio\":1.5,\"lo\":1.25,\"hi\":1.75},\"carry_over\":null,"
			"\"self_check\":{\"ratio\":1,\"lo\":0.5,\"hi\":2,\"level\":0.95,\"runs\":5,\"biased\":true},"
			"\"pilot\":{\"seq\":{\"runs\":3,\"sd\":0.5,\"run_seconds\":1.5,\"cost\":2}},"
			"\"a\":{\"command\":\"old | a\",\"wall\":10000000,\"rss\":1048576},"
			"\"b\":{\"command\":\"new <b>\",\"wall\":11000000,\"rss\":1048576},"
			"\"samples\":[{\"order\":\"AB\",\"swapped\":false,\"A\":[[100000000,110000000,10000000]],"
			"\"B\":[[105000000,116000000,11000000]],\"log_ratios\":[0.09531017980432493,"
			"0.4054651081081644]}],"
			"\"recordings\":7,\"causes\":[{\"kind\":\"call\",\"name\":\"read\",\"a_ns\":1,\"b_ns\":2,"
			"\"a_calls\":3,\"b_calls\":4,"
			"\"delta_ns\":5,\"lo_ns\":-1,\"hi_ns\":6}],"
			"\"seed\":42,\"priority\":false,\"steal\":0.01,\"pressure\":0.25,\"repeat\":\"again\","
			"\"machine\":\"here\","
			"\"warnings\":[\"careful\"]}");
	w.entry.name = "bench";
	w.report.explanation = NULL;
	w.result.effect.p = 0.5;
	json_init(&j, &out, false);
	duet_report_json(&j, &w.report, false);
	has(&out, "{\"benchmarks\":[{\"benchmark\":\"bench\",\"ratio\":1.2,");
	has(&out,
			",\"p\":0.5,\"p_adjusted\":null}],\"mean\":{\"ratio\":1.05,\"lo\":1.02,\"hi\":1.08},"
			"\"seconds\":2.5,\"seed\":42,");
	release(&w);
}

static void csv_has_a_line_per_benchmark(void **state)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct world w;

	make(&w);
	w.entry.name = "a \"b\", c";
	w.entry.p_adjusted = 0.125;
	duet_report_csv(&out, &w.report);
	is(&out,
			"benchmark,metric,design,verdict,ratio,lo,hi,runs,pairs,seconds,a,b,p,p_adjusted\n"
			"\"a \"\"b\"\", c\",wall,async,slower,1.2,1.1,1.3,2,4,1.25,15000000,20500000,,0.125\n");
	w.entry.name = NULL;
	w.result.effect.ratio.hi = INFINITY;
	duet_report_csv(&out, &w.report);
	has(&out, "\n\"\",wall,async,slower,1.2,1.1,,2,");
	release(&w);
}

static void markdown_is_a_comment(void **state)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	static const char *const warnings[] = { "careful" };
	struct duet_cause causes[11];
	struct duet_explanation explanation = { causes, 11, 7 };
	struct duet_entry two[2];
	struct world w;

	make(&w);
	duet_report_markdown(&out, &w.report);
	is(&out,
			"**B is 20.0 % slower than A (95 % interval +10.0 to +30.0 %, 2 runs with 4 pairs in 1.2 "
			"s)**\n\n"
			"| verdict | benchmark | A (wall) | B (wall) | change | 95 % interval | runs |\n"
			"|---|---|---:|---:|---:|---:|---:|\n"
			"| 🔴 slower | old \\| a → new \\<b\\> | 15 ms | 20.5 ms | +20.00 % | +10.00 % to +30.00 % | "
			"2 |\n");
	for (size_t i = 0; i < 11; i++)
		causes[i] = (struct duet_cause){ "call",
			i == 10 ? "eleventh"
				: "re_ad"
				  "\n",
			0, 0, 0, 0, interval(1.5e6, -1e6, 2e6) };
	w.result.verdict = STATS_INCONCLUSIVE;
	w.result.effect.ratio.hi = INFINITY;
	w.report.warnings = warnings;
	w.report.warning_count = 1;
	w.report.explanation = &explanation;
	w.report.repeat = "sonde duet";
	w.entry.name = "one";
	duet_report_markdown(&out, &w.report);
	has(&out, "**\n\nthe change is as good as the threshold itself: ");
	has(&out,
			"| ❔ inconclusive | one | 15 ms | 20.5 ms | +20.00 % | +10.00 % to ? | 2 |\n\n> ⚠ careful.\n\n"
			"<details>"
			"<summary>What carries the difference, of 7 recordings of each</summary>\n\n"
			"| kind | name | B - A (ms) | interval |\n|---|---|---:|---:|\n"
			"| call | re\\_ad  | +1.500 | -1.000 to +2.000 |\n");
	assert_null(strstr(out.data, "eleventh"));
	has(&out, "\n</details>\n\n<details><summary>Repeat it</summary>\n\n    sonde duet\n\n</details>\n");
	buf_reset(&out);
	two[0] = two[1] = w.entry;
	two[0].is_held_back = true;
	w.report.entries = two;
	w.report.count = 2;
	w.report.explanation = NULL;
	duet_report_markdown(&out, &w.report);
	assert_true(strncmp(out.data, "| verdict |", 11) == 0);
	has(&out, "| | geometric mean | | | +5.00 % | +2.00 % to +8.00 % | |\n\n> 1 of 2 benchmarks is beyond");
	release(&w);
}

/* Positions in the plots, from the ranges and sizes that they show. */
static void html_shows_the_answer(void **state)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct world w;

	make(&w);
	duet_report_html(&out, &w.report, false);
	assert_null(strstr(out.data, "http-equiv"));
	has(&out, "<section><p class=\"slower\"><strong>B is 20.0 % slower than A (");
	/* -10 to 30 and a twentieth on either side, on 240 to 870: 14.318 for each percent */
	has(&out, "<rect class=\"band\" x=\"281.7\" width=\"273.3\" y=\"0\" height=\"24\"/>");
	has(&out,
			"<line x1=\"555.0\" x2=\"841.4\" y1=\"12\" y2=\"12\" stroke=\"currentColor\" "
			"stroke-width=\"3\"/>"
			"<circle cx=\"698.2\" cy=\"12\" r=\"5\" fill=\"currentColor\"><title>+20.00 % (+10.00 % to "
			"+30.00 "
			"%)</title></circle>");
	has(&out, "<text x=\"232\" y=\"16\" text-anchor=\"end\">B against A</text>");
	has(&out, "<line x1=\"411.8\" x2=\"411.8\" y1=\"0\" y2=\"24\" stroke=\"currentColor\"/>");
	has(&out, "<text x=\"411.8\" y=\"42\" text-anchor=\"middle\">0 %</text>");
	has(&out,
			"The band is the threshold of 10 %: what lies within is equivalent. A was not compared with "
			"itself.</p>");
	/* pairs: 10 and 50 %, the interval 10 to 30, and 0: -2.5 to 52.5 on 196 to 8 */
	has(&out,
			"<circle cx=\"174.5\" cy=\"153.3\" r=\"2.5\" class=\"even\"><title>run 1, iterations 1 of A "
			"and 1 "
			"of B: +10.00 %</title>");
	has(&out,
			"<circle cx=\"789.5\" cy=\"16.5\" r=\"2.5\" class=\"odd\"><title>run 2, iterations 2 of A "
			"and 2 "
			"of B: +50.00 %</title>");
	has(&out, "<rect x=\"72\" width=\"828\" y=\"84.9\" height=\"69.4\" class=\"interval\"/>");
	assert_null(strstr(out.data, "lie beyond"));
	/* medians of both sides */
	has(&out, "<tr><td>wall</td><td>15 ms</td><td>20.5 ms</td><td>+36.67 %</td></tr>");
	has(&out, "<tr><td>rss</td><td>1.0 MiB</td><td>1.0 MiB</td><td>+0.00 %</td></tr></table>");
	has(&out, "<p>A: <code>old | a</code></p><p>B: <code>new &lt;b&gt;</code></p>");
	/* the timeline: 100 ms on 72 to 892 */
	has(&out, "The first 2 of 2 runs;");
	has(&out,
			"<rect x=\"72.00\" width=\"82.00\" y=\"8\" height=\"14\" class=\"even\"><title>A, iteration 1: "
			"10.000 ms from 0.000 ms</title>");
	has(&out,
			"<rect x=\"482.00\" width=\"246.00\" y=\"30\" height=\"14\" class=\"odd\"><title>B, "
			"iteration 2: "
			"30.000 ms from 50.000 ms</title>");
	has(&out, "<rect x=\"113.00\" width=\"41.00\" y=\"23\" height=\"6\" class=\"overlap\"/>");
	has(&out, "<text x=\"4\" y=\"71\">run 2 A</text><text x=\"4\" y=\"93\">B</text>");
	/* the order */
	has(&out, "<p>A began 1, B 1 of them; with the CPUs exchanged: 1 (marked).</p>");
	has(&out,
			"<rect x=\"72\" y=\"2\" width=\"14\" height=\"14\" class=\"even\"><title>run 1: "
			"AB</title></rect>"
			"<rect x=\"88\" y=\"2\" width=\"14\" height=\"14\" class=\"odd\" stroke=\"currentColor\" "
			"stroke-width=\"2\">"
			"<title>run 2: BA, CPUs exchanged</title></rect>");
	has(&out,
			"<h3>Method</h3><p>Metric wall; design async: side by side. ranks, level 95 %; 2 runs of 4 "
			"pairs, "
			"3 looks, stopped: "
			"decided. These runs find a change of 25.00 % in 8 of 10 cases.</p></section>");
	has(&out,
			"<p>Seed 42, 1.0 % of the processor time stolen, tasks waited for a CPU 25 % of the time.</p>"
			"</body></html>\n");
	release(&w);
}

static void html_shows_what_there_is(void **state)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	static const char *const warnings[] = { "<careful>" };
	struct duet_cause causes[] = { { "call", "<read>", 2e6, 5e6, 10, 20, interval(3e6, 1e6, 4e6) },
		{ "file", "x", 0, 0, 0, 0, interval(1e6, -1e6, 2e6) },
		{ "fil"
		  "e",
				"y", 0, 0, 0, 0, interval(-1e6, -2e6, -1) } };
	struct duet_explanation explanation = { causes, 3, 7 };
	struct world w;

	make(&w);
	w.report.warnings = warnings;
	w.report.warning_count = 1;
	w.report.explanation = &explanation;
	w.report.repeat = "a <b>";
	w.report.machine = "m";
	w.report.interference.steal_share = w.report.interference.pressure_share = NAN;
	w.setup.has_priority = true;
	w.result.self = (struct duet_self_check){ .runs = 5, .ratio = interval(1, 0.9, 1.1), .is_biased = true };
	w.result.cpu = interval(1.1, 1.05, 1.15);
	w.result.is_design_piloted = true;
	w.result.detectable = NAN;
	w.result.run_count = w.result.pairs.count = w.result.looks = 1;
	duet_report_html(&out, &w.report, true);
	has(&out, "<meta http-equiv=\"refresh\" content=\"2\">");
	has(&out, "It has not come to its end");
	has(&out, "CPU time</text>");
	has(&out, "A against itself</text>");
	has(&out,
			"A against itself (5 runs, a 95 % interval) should hold 0, and does not: something favours a "
			"side.</p>");
	has(&out, "; in a pilot of A against itself the best for its time:");
	has(&out, "1 run of 1 pair, 1 look, stopped: decided.</p>");
	has(&out, "<p class=\"warning\">&lt;careful&gt;.</p>");
	has(&out,
			"<tr><td>&lt;read&gt;"
			"</td><td>call</td><td>+3.000</td><td>+1.000</td><td>+4.000</td><td>2.000 / "
			"10</td>"
			"<td>5.000 / 20</td></tr><tr class=\"quiet\"><td>x</td>");
	has(&out, "<tr><td>y</td>");
	has(&out, "<p>Seed 42, ahead of other processes. On m.</p><pre>a &lt;b&gt;</pre></body>");
	buf_reset(&out);
	w.result.self.is_biased = false;
	w.result.pairs.count = 0;
	w.runs[0].sides[DUET_A].items[0].end_ns = 0;
	w.result.effect.ratio.estimate = NAN;
	duet_report_html(&out, &w.report, false);
	has(&out, "should hold 0, and does.</p>");
	assert_null(strstr(out.data, "Every pair"));
	assert_null(strstr(out.data, "When they ran"));
	release(&w);
}

/* A pair far beyond many others does not squeeze them. */
static void html_marks_pairs_beyond_the_range(void **state)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	double x[100];
	size_t index[100] = { 0 }, first[] = { 0, 100 };
	struct world w;

	make(&w);
	for (size_t i = 0; i < 100; i++)
		x[i] = log(i == 50 ? 9 : i % 2 ? 1.1 : 1.2);
	w.result.pairs = (struct duet_pairs){ .x = x, .first = first, .a = index, .b = index, .runs = 1, .count = 100 };
	duet_report_html(&out, &w.report, false);
	has(&out, "; 1 at the edges, hollow, lie beyond</text>");
	/* the 51st of 100 on 72 to 892, at the upper edge */
	has(&out,
			"<circle cx=\"486.1\" cy=\"8.0\" r=\"2.5\" class=\"even far\"><title>run 1, iterations 1 of "
			"A and "
			"1 of B: +800.00 %</title>");
	release(&w);
}

static void html_analyses_benchmarks(void **state)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct duet_result sequential;
	struct duet_entry entries[3];
	struct world w;

	make(&w);
	sequential = w.result;
	sequential.schedule.design = DUET_SEQ;
	sequential.seconds = 5;
	sequential.effect.ratio = interval(1.2, 1, 1.8);
	sequential.verdict = STATS_INCONCLUSIVE;
	entries[0] = (struct duet_entry){ .name = "s/b duet", .result = &w.result, .p_adjusted = 0.0125 };
	entries[1] = (struct duet_entry){ .name = "s/b seqn", .result = &sequential, .p_adjusted = NAN };
	entries[2] = (struct duet_entry){ .name = "s/c duet", .result = &w.result, .p_adjusted = NAN };
	w.report.entries = entries;
	w.report.count = 3;
	duet_report_html(&out, &w.report, false);
	has(&out, "<h2>What changed?</h2>");
	has(&out, "<table><tr><th>benchmark</th><th>verdict</th><th>change</th><th>from</th><th>to</th><th>runs</th>");
	has(&out, "<table><tr><th>benchmark</th><th>spread A</th>");
	has(&out,
			"<tr><td>s/b duet</td><td class=\"slower\">slower</td><td>+20.00 %</td><td>+10.00 "
			"%</td><td>+30.00 %</td><td>2</td>"
			"<td>0.0125</td></tr><tr><td>s/b seqn</td><td "
			"class=\"inconclusive\">inconclusive</td><td>+20.00 "
			"%</td><td>+0.00 %</td>"
			"<td>+80.00 %</td><td>2</td><td></td></tr>");
	has(&out, "<tr><td>geometric mean</td><td></td><td>+5.00 %</td><td>+2.00 %</td><td>+8.00 %</td>");
	/* A: 10, 20, 10, 20 ms: sd 5.7735 of 15; B: 11, 30: sd 10.9697 of 20.5; both share 25 of 71 ms a run */
	has(&out,
			"<tr><td>s/b duet</td><td>38.49 %</td><td>53.51 %</td><td>20.00 %</td><td>25.00 "
			"%</td><td>70.42 "
			"%</td><td>4</td>"
			"<td>1.2</td></tr>");
	/* 0.8 / 0.2 as wide, 5 / 1.25 as long */
	has(&out, "<h2>What does running side by side gain?</h2>");
	has(&out, "<tr><td>s/b duet</td><td>4.00</td><td>4.00</td></tr></table>");
	assert_null(strstr(out.data, "<tr><td>s/c duet</td><td>4.00"));
	release(&w);
}

static void machines_are_described(void **state)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct duet_interference i;

	duet_machine(&out);
	assert_true(strncmp(out.data, "Linux ", 6) == 0);
	has(&out, " CPU");
	duet_interference_start(&i);
	assert_true(isnan(i.steal_share) && isnan(i.pressure_share));
	assert_true(i.total > 0 && i.steal >= 0 && i.steal <= i.total);
	i.total -= 1000;
	i.steal -= 500;
	i.start_ns -= SECOND;
	duet_interference_stop(&i);
	assert_true(i.steal_share > 0 && i.steal_share <= 0.5);
	assert_true(isnan(i.pressure_share) || i.pressure_share >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_have_fitting_digits),
		cmocka_unit_test(values_have_units),
		cmocka_unit_test(answers_are_sentences),
		cmocka_unit_test(needs_name_a_budget),
		cmocka_unit_test(pilots_are_reasons),
		cmocka_unit_test(doubts_are_warnings),
		cmocka_unit_test(several_benchmarks_are_adjusted),
		cmocka_unit_test(json_has_the_fields),
		cmocka_unit_test(csv_has_a_line_per_benchmark),
		cmocka_unit_test(markdown_is_a_comment),
		cmocka_unit_test(html_shows_the_answer),
		cmocka_unit_test(html_shows_what_there_is),
		cmocka_unit_test(html_marks_pairs_beyond_the_range),
		cmocka_unit_test(html_analyses_benchmarks),
		cmocka_unit_test(machines_are_described),
	};

	return RUN_TESTS(tests);
}
