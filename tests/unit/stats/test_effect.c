/* effect: runs count, wild and absent pairs do not, and A/A intervals exclude 1 as seldom as promised. */
#include "../support.h"

#include "near.h"
#include "sample.h"
#include "stats/effect.h"
#include "stats/ranks.h"

#include <errno.h>
#include <string.h>

enum { RUNS_MAX = 40, PAIRS = 10 };

#define GUARDED (1 - (1 - 0.95) * STATS_EFFECT_GUARD)

struct data {
	double x[RUNS_MAX * PAIRS], weight[RUNS_MAX * PAIRS];
	size_t first[RUNS_MAX + 1];
	struct stats_runs runs;
};

static void fill(struct data *d, struct stats_rng *r, size_t runs, double theta)
{
	d->runs = (struct stats_runs){ .x = d->x, .first = d->first, .count = runs };
	d->first[0] = 0;
	for (size_t i = 0; i < runs; i++) {
		double level = theta + 0.01 * stats_rng_normal(r);

		d->first[i + 1] = d->first[i] + PAIRS;
		for (size_t k = 0; k < PAIRS; k++) {
			d->x[i * PAIRS + k] = level + 0.02 * stats_rng_normal(r);
			d->weight[i * PAIRS + k] = 1 + (double)stats_rng_below(r, 9);
		}
	}
}

static struct stats_effect effect_of(const struct stats_runs *runs, struct stats_effect_options how)
{
	struct arena arena = ARENA_INIT;
	struct stats_effect out;

	assert_int_equal(stats_effect(runs, &how, &arena, &out, NULL), 0);
	arena_release(&arena);
	return out;
}

static void locations(const struct data *d, double *out)
{
	for (size_t i = 0; i < d->runs.count; i++) {
		double x[PAIRS];

		memcpy(x, d->x + d->first[i], sizeof(x));
		out[i] = stats_hl(x, PAIRS);
	}
}

/* Few runs: Student's t of the runs' Hodges-Lehmann estimates, at the part of the error that it aims at. */
static void few_runs(void **state)
{
	double at[RUNS_MAX];
	struct stats_interval expected;
	struct stats_effect e;
	struct stats_rng r;
	struct data d;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	fill(&d, &r, 6, 0.03);
	locations(&d, at);
	expected = stats_mean_interval(at, 6, GUARDED);
	e = effect_of(&d.runs, (struct stats_effect_options){ 0 });
	assert_true(e.log_ratio.lo == expected.lo && e.log_ratio.hi == expected.hi && e.log_ratio.level == 0.95);
	assert_true(is_near(e.ratio.estimate, exp(expected.estimate), 1e-15) && e.log_ratio.n == 6 && e.pairs == 60);
	assert_true(!e.is_indicative && e.dropped == 0 && e.locations.n == 6);
	assert_string_equal(e.log_ratio.method, "Student's t");
}

static void many_runs(void **state)
{
	double at[RUNS_MAX];
	struct stats_interval expected;
	struct stats_effect e;
	struct stats_rng r;
	struct data d;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	fill(&d, &r, 15, 0.03);
	locations(&d, at);
	expected = stats_hl_interval(at, 15, GUARDED);
	e = effect_of(&d.runs, (struct stats_effect_options){ 0 });
	assert_true(e.log_ratio.lo == expected.lo && e.log_ratio.hi == expected.hi);
	assert_string_equal(e.log_ratio.method, "Hodges-Lehmann, signed rank");
	/* where ranks cannot reach the level, Student's t does */
	e = effect_of(&d.runs, (struct stats_effect_options){ .level = 0.999999 });
	assert_string_equal(e.log_ratio.method, "Student's t");
	assert_true(isfinite(e.log_ratio.lo));
	e = effect_of(&d.runs, (struct stats_effect_options){ .method = STATS_STUDENT });
	assert_string_equal(e.log_ratio.method, "Student's t");
}

/* Of few runs their standard deviation, of many what the interval tells; a tenth of wild ones hardly moves it. */
static void spread_is_that_of_the_interval(void **state)
{
	struct stats_effect e;
	struct stats_rng r;
	struct data d;
	double calm;

	stats_rng_init(&r, 45, 0);
	fill(&d, &r, 6, 0);
	e = effect_of(&d.runs, (struct stats_effect_options){ 0 });
	assert_true(stats_effect_spread(&e) == stats_sd(&e.locations));
	fill(&d, &r, 40, 0);
	e = effect_of(&d.runs, (struct stats_effect_options){ 0 });
	calm = stats_effect_spread(&e);
	assert_true(calm > 0.7 * stats_sd(&e.locations) && calm < 1.4 * stats_sd(&e.locations));
	for (size_t i = 0; i < 4 * PAIRS; i++)
		d.x[i] += i < 2 * PAIRS ? 2 : -2;
	e = effect_of(&d.runs, (struct stats_effect_options){ 0 });
	assert_true(stats_sd(&e.locations) > 20 * calm && stats_effect_spread(&e) < 2 * calm);
	d.runs.count = 1;
	e = effect_of(&d.runs, (struct stats_effect_options){ 0 });
	assert_true(isnan(stats_effect_spread(&e)));
}

static bool are_same(const struct stats_effect *a, const struct stats_effect *b)
{
	return a->log_ratio.lo == b->log_ratio.lo && a->log_ratio.hi == b->log_ratio.hi && a->p == b->p;
}

static void runs_and_their_pairs_are_drawn(void **state)
{
	struct stats_effect_options how = { .method = STATS_HIERARCHICAL, .seed = 4 };
	struct stats_effect e, again, ranks;
	struct stats_rng r;
	struct data d;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	fill(&d, &r, STATS_EFFECT_MANY, 0.03);
	e = effect_of(&d.runs, how);
	again = effect_of(&d.runs, how);
	assert_string_equal(e.log_ratio.method, "Hodges-Lehmann, hierarchical bootstrap");
	assert_true(are_same(&e, &again));
	ranks = effect_of(&d.runs, (struct stats_effect_options){ .method = STATS_RANKS });
	assert_string_equal(ranks.log_ratio.method, "Hodges-Lehmann, signed rank");
	assert_true(is_near(e.log_ratio.estimate, ranks.log_ratio.estimate, 1e-12));
	assert_true(e.log_ratio.hi - e.log_ratio.lo > 0.5 * (ranks.log_ratio.hi - ranks.log_ratio.lo));
	assert_true(e.log_ratio.hi - e.log_ratio.lo < 2.5 * (ranks.log_ratio.hi - ranks.log_ratio.lo));
	/* an error that its draws do not tell */
	e = effect_of(&d.runs, (struct stats_effect_options){ .method = STATS_HIERARCHICAL, .level = 0.99995 });
	assert_string_equal(e.log_ratio.method, "Student's t");
	fill(&d, &r, STATS_EFFECT_MANY - 1, 0.03);
	e = effect_of(&d.runs, how);
	assert_string_equal(e.log_ratio.method, "Student's t");
}

static void the_seed_decides_the_draws(void **state)
{
	struct stats_effect_options how = { .method = STATS_HIERARCHICAL, .seed = 4, .draws = 199 };
	struct stats_effect e, other;
	struct stats_rng r;
	struct data d;

	stats_rng_init(&r, 8, 0);
	fill(&d, &r, STATS_EFFECT_MANY, 0.03);
	e = effect_of(&d.runs, how);
	how.seed = 5;
	other = effect_of(&d.runs, how);
	assert_true(!are_same(&e, &other) && e.log_ratio.estimate == other.log_ratio.estimate);
	assert_true(e.log_ratio.lo < e.log_ratio.estimate && e.log_ratio.estimate < e.log_ratio.hi);
	how.draws = 9; /* nothing is known about what lies beyond 97.8 % */
	e = effect_of(&d.runs, how);
	assert_true(e.log_ratio.lo == -INFINITY && e.log_ratio.hi == INFINITY);
	for (size_t i = 0; i < STATS_EFFECT_MANY * PAIRS; i++)
		d.x[i] = 0.25;
	e = effect_of(&d.runs, how);
	assert_true(e.log_ratio.estimate == 0.25); /* no draw has a spread */
	assert_true(e.log_ratio.lo == -INFINITY && e.p == 0);
}

/* 95 % of the intervals of so many runs hold the truth. */
static void the_bootstrap_covers(void **state)
{
	enum { ROUNDS = 300 };
	struct stats_rng r;
	int held = 0;

	stats_rng_init(&r, 21, 0);
	for (int k = 0; k < ROUNDS; k++) {
		struct stats_effect e;
		struct data d;

		fill(&d, &r, 25, 0.02);
		e = effect_of(&d.runs,
				(struct stats_effect_options){ .method = STATS_HIERARCHICAL,
						.draws = 199,
						.seed = stats_rng_next(&r) });
		held += stats_interval_holds(&e.log_ratio, 0.02);
	}
	assert_true(is_within(held, 0.955 * ROUNDS, 0.036 * ROUNDS));
}

/* A pair that weighs next to nothing is hardly ever seen, in runs as they are and in those that are drawn. */
static void weights_are_drawn_with_their_pairs(void **state)
{
	struct stats_effect with, without;
	struct stats_rng r;
	struct data d;
	double weight[RUNS_MAX * PAIRS];

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	fill(&d, &r, STATS_EFFECT_MANY, 0.001);
	for (size_t i = 0; i < STATS_EFFECT_MANY * PAIRS; i++)
		weight[i] = 1e6;
	for (size_t run = 0; run < STATS_EFFECT_MANY; run++) {
		d.x[run * PAIRS] = 1e3 * (run % 2 ? 1 : -1);
		weight[run * PAIRS] = 1;
	}
	d.runs.weight = weight;
	with = effect_of(&d.runs, (struct stats_effect_options){ .method = STATS_HIERARCHICAL });
	for (size_t i = 0; i < STATS_EFFECT_MANY * PAIRS; i++)
		weight[i] = i % PAIRS ? 1 : 0;
	without = effect_of(&d.runs, (struct stats_effect_options){ .method = STATS_HIERARCHICAL });
	assert_string_equal(with.log_ratio.method, "Hodges-Lehmann, hierarchical bootstrap");
	assert_true(is_near(with.log_ratio.estimate, without.log_ratio.estimate, 1e-3));
	assert_true(with.log_ratio.hi - with.log_ratio.lo < 3 * (without.log_ratio.hi - without.log_ratio.lo));
}

/* The interval excludes no change exactly when p is at most 1 - level. */
static void p_agrees_with_the_interval(void **state)
{
	struct stats_rng r;
	struct data d;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	for (int round = 0; round < 300; round++) {
		struct stats_effect e;

		fill(&d, &r, 2 + stats_rng_below(&r, 30), 0.005);
		e = effect_of(&d.runs, (struct stats_effect_options){ .draws = 399, .seed = (uint64_t)round });
		assert_true(stats_interval_holds(&e.log_ratio, 0) == (e.p > 0.05));
	}
}

static void one_run_is_indicative(void **state)
{
	struct stats_effect e;
	struct stats_rng r;
	struct data d;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	fill(&d, &r, 4, 0);
	d.first[1] = 4 * PAIRS; /* all pairs in one run */
	d.runs.count = 1;
	e = effect_of(&d.runs, (struct stats_effect_options){ 0 });
	assert_true(e.is_indicative && e.log_ratio.n == 1 && e.pairs == 4 * PAIRS);
	assert_true(isfinite(e.log_ratio.lo) && e.log_ratio.lo < e.log_ratio.estimate &&
			e.log_ratio.estimate < e.log_ratio.hi);
	d.first[1] = 7; /* too few for blocks */
	e = effect_of(&d.runs, (struct stats_effect_options){ 0 });
	assert_true(e.is_indicative && e.log_ratio.lo == -INFINITY && e.ratio.lo == 0 && e.ratio.hi == INFINITY);
	assert_true(isfinite(e.ratio.estimate) && isnan(e.p));
}

static void absent_pairs_are_left_out(void **state)
{
	static const size_t first[] = { 0, 3, 3, 5, 7 };
	const double x[] = { 1, NAN, 1, INFINITY, NAN, 3, 3 };
	struct stats_runs runs = { .x = x, .first = first, .count = 4 };
	struct stats_effect e = effect_of(&runs, (struct stats_effect_options){ 0 });

	assert_true(e.log_ratio.n == 2 && e.pairs == 4 && e.dropped == 3 && e.log_ratio.estimate == 2);
}

static void nothing_is_refused(void **state)
{
	static const size_t first[] = { 0, 1 };
	const double x[] = { NAN };
	struct stats_runs runs = { .x = x, .first = first, .count = 1 }, none = { .count = 0 };
	struct stats_effect_options how = { 0 };
	struct arena arena = ARENA_INIT;
	struct stats_effect out;
	struct sonde_err err;

	assert_int_equal(stats_effect(&runs, &how, &arena, &out, &err), -EINVAL);
	assert_string_equal(err.text, "no pairs to compare");
	assert_int_equal(stats_effect(&none, &how, &arena, &out, &err), -EINVAL);
	alloc_fail_after(0);
	arena_release(&arena);
	assert_int_equal(stats_effect(&runs, &how, &arena, &out, &err), -ENOMEM);
	alloc_fail_never();
	arena_release(&arena);
}

/* B against A is A against B turned around; the order of runs, and of pairs, does not matter. */
static void symmetric_and_without_order(void **state)
{
	struct stats_effect e, turned;
	struct stats_rng r;
	struct data d;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	for (size_t runs = 5; runs < 20; runs += 10) {
		fill(&d, &r, runs, 0.01);
		d.runs.weight = d.weight;
		e = effect_of(&d.runs, (struct stats_effect_options){ 0 });
		for (size_t i = 0; i < runs * PAIRS; i++)
			d.x[i] = -d.x[i];
		turned = effect_of(&d.runs, (struct stats_effect_options){ 0 });
		assert_true(is_near(e.ratio.lo, 1 / turned.ratio.hi, 1e-12) &&
				is_near(e.ratio.hi, 1 / turned.ratio.lo, 1e-12));
		d.runs.weight = NULL;
		e = effect_of(&d.runs, (struct stats_effect_options){ 0 });
		for (size_t i = 0; i < runs; i++)
			stats_rng_shuffle(&r, d.x + d.first[i], PAIRS, sizeof(double));
		stats_rng_shuffle(&r, d.x, runs, PAIRS * sizeof(double));
		turned = effect_of(&d.runs, (struct stats_effect_options){ 0 });
		assert_true(is_near(e.ratio.lo, turned.ratio.lo, 1e-12) && is_near(e.ratio.hi, turned.ratio.hi, 1e-12));
	}
}

static void wild_pairs_do_not_matter(void **state)
{
	struct stats_effect e, wild;
	struct stats_rng r;
	struct data d;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	fill(&d, &r, 12, 0.02);
	e = effect_of(&d.runs, (struct stats_effect_options){ 0 });
	for (size_t i = 0; i < 12; i++)
		d.x[i * PAIRS + i % PAIRS] = i % 2 ? 5 : -5;
	wild = effect_of(&d.runs, (struct stats_effect_options){ 0 });
	assert_true(is_within(e.log_ratio.estimate, wild.log_ratio.estimate, 0.01));
	assert_true(wild.log_ratio.hi - wild.log_ratio.lo < 2 * (e.log_ratio.hi - e.log_ratio.lo));
}

static void runs_that_resemble_each_other_are_told(void **state)
{
	struct stats_effect e;
	struct stats_rng r;
	struct data d;

	stats_rng_init(&r, 43, 0);
	fill(&d, &r, 30, 0);
	e = effect_of(&d.runs, (struct stats_effect_options){ 0 });
	assert_true(fabs(e.run_correlation) < 2 / sqrt(30));
	for (size_t i = 0; i < 30 * PAIRS; i++)
		d.x[i] += 0.05 * sin((double)(i / PAIRS) / 4);
	e = effect_of(&d.runs, (struct stats_effect_options){ 0 });
	assert_true(e.run_correlation > 2 / sqrt(30));
}

/* Of one benchmark it is its own Student's interval; of several it covers. */
static void mean_of_benchmarks(void **state)
{
	struct stats_effect e[3];
	struct stats_interval i;
	struct stats_rng r;
	struct data d;
	int held = 0;

	stats_rng_init(&r, 44, 0);
	fill(&d, &r, 7, 0.01);
	e[0] = effect_of(&d.runs, (struct stats_effect_options){ 0 });
	i = stats_effects_mean(e, 1, 0.95);
	assert_true(is_near(i.lo, e[0].log_ratio.lo, 1e-9) && is_near(i.hi, e[0].log_ratio.hi, 1e-9) &&
			i.level == 0.95);
	for (int k = 0; k < 2000; k++) {
		for (size_t b = 0; b < 3; b++) {
			fill(&d, &r, 3 + 2 * b, 0.01 * (double)b);
			e[b] = effect_of(&d.runs, (struct stats_effect_options){ 0 });
		}
		i = stats_effects_mean(e, 3, 0.95);
		held += stats_interval_holds(&i, 0.01);
	}
	assert_true(is_within(held / 2000.0, GUARDED, 0.015) && i.n == 3);
	d.runs.count = 1;
	e[2] = effect_of(&d.runs, (struct stats_effect_options){ 0 });
	i = stats_effects_mean(e, 3, 0.95);
	assert_true(isfinite(i.estimate) && i.lo == -INFINITY);
	i = stats_effects_mean(e, 0, 0.95);
	assert_true(isnan(i.estimate) && i.lo == -INFINITY);
}

/* A/A: the share of experiments whose interval excludes 1. */
static double alarms(size_t runs, int rounds)
{
	struct stats_rng r;
	struct data d;
	int count = 0;

	stats_rng_init(&r, 41, runs);
	for (int k = 0; k < rounds; k++) {
		struct stats_effect e;

		fill(&d, &r, runs, 0);
		e = effect_of(&d.runs, (struct stats_effect_options){ 0 });
		count += !stats_interval_holds(&e.ratio, 1);
	}
	return (double)count / rounds;
}

static void false_alarms_are_as_promised(void **state)
{
	assert_true(is_within(alarms(3, 3000), 0.045, 0.012));
	assert_true(is_within(alarms(12, 3000), 0.045, 0.012));
}

/* The same with looks, stopping at the first alarm. */
static void false_alarms_of_looks(void **state)
{
	static const size_t looks[] = { 4, 6, 10, 16 };
	struct stats_sequential plan, at[4];
	struct stats_rng r;
	struct data d;
	int count = 0;

	stats_effect_plan(&plan, 0.95, 16);
	for (size_t i = 0; i < 4; i++) {
		stats_sequential_look(&plan, looks[i]);
		at[i] = plan;
	}
	stats_rng_init(&r, 42, 0);
	for (int k = 0; k < 2000; k++) {
		bool is_alarm = false;

		fill(&d, &r, 16, 0);
		for (size_t i = 0; i < 4 && !is_alarm; i++) {
			struct stats_effect e;

			d.runs.count = looks[i];
			e = effect_of(&d.runs, (struct stats_effect_options){ .look = &at[i] });
			is_alarm = !stats_interval_holds(&e.ratio, 1);
			assert_true(isnan(e.p) && e.log_ratio.level == 0.95);
		}
		count += is_alarm;
	}
	assert_true(is_within(count / 2000.0, 0.045, 0.014));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_runs),
		cmocka_unit_test(many_runs),
		cmocka_unit_test(spread_is_that_of_the_interval),
		cmocka_unit_test(runs_and_their_pairs_are_drawn),
		cmocka_unit_test(the_seed_decides_the_draws),
		cmocka_unit_test(the_bootstrap_covers),
		cmocka_unit_test(weights_are_drawn_with_their_pairs),
		cmocka_unit_test(p_agrees_with_the_interval),
		cmocka_unit_test(one_run_is_indicative),
		cmocka_unit_test(absent_pairs_are_left_out),
		cmocka_unit_test(nothing_is_refused),
		cmocka_unit_test(symmetric_and_without_order),
		cmocka_unit_test(wild_pairs_do_not_matter),
		cmocka_unit_test(runs_that_resemble_each_other_are_told),
		cmocka_unit_test(mean_of_benchmarks),
		cmocka_unit_test(false_alarms_are_as_promised),
		cmocka_unit_test(false_alarms_of_looks),
	};

	return RUN_TESTS(tests);
}
