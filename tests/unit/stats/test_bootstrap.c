/* bootstrap: repeatable, near scipy's, wide enough where it claims to be, and refused where it makes no sense. */
#include "../support.h"

#include "near.h"
#include "oracle.h"
#include "stats/bootstrap.h"
#include "stats/rng.h"

#include <errno.h>
#include <string.h>

static struct stats_interval values_interval(const double *x, size_t n, struct stats_bootstrap how)
{
	struct arena arena = ARENA_INIT;
	struct stats_interval out;

	assert_int_equal(stats_bootstrap_values(x, n, &how, &arena, &out, NULL), 0);
	arena_release(&arena);
	return out;
}

static double median(double *x, size_t n, const void *context)
{
	return stats_median(x, n);
}

static void near_scipy(void **state)
{
	struct stats_interval i = values_interval(sample, COUNT(sample),
			(struct stats_bootstrap){ .kind = STATS_BCA, .level = 0.95, .draws = 100000, .seed = 1 });

	assert_true(is_near(i.estimate, sample_mean, 1e-13));
	assert_true(is_within(i.lo, sample_bca_lo, 0.01) && is_within(i.hi, sample_bca_hi, 0.04));
}

static bool are_same(const struct stats_interval *a, const struct stats_interval *b)
{
	return a->estimate == b->estimate && a->lo == b->lo && a->hi == b->hi;
}

static void a_seed_repeats(void **state)
{
	for (int kind = STATS_STUDENTISED; kind <= STATS_BCA; kind++) {
		struct stats_bootstrap how = { .kind = (enum stats_bootstrap_kind)kind,
			.level = 0.9,
			.draws = 199,
			.seed = 5 };
		struct stats_interval a = values_interval(sample, COUNT(sample), how), b, c;

		b = values_interval(sample, COUNT(sample), how);
		how.seed = 6;
		c = values_interval(sample, COUNT(sample), how);
		assert_true(are_same(&a, &b) && !are_same(&a, &c));
		assert_true(a.lo < a.estimate && a.estimate < a.hi && a.n == COUNT(sample));
	}
}

static void any_statistic(void **state)
{
	for (int kind = STATS_STUDENTISED; kind <= STATS_BCA; kind++) {
		struct stats_interval i = values_interval(sample, COUNT(sample),
				(struct stats_bootstrap){ .kind = (enum stats_bootstrap_kind)kind,
						.level = 0.95,
						.statistic = median,
						.draws = 499 });

		assert_true(i.estimate == sample_median && i.lo <= i.estimate && i.estimate <= i.hi);
	}
}

static void scale_and_shift(void **state)
{
	double y[COUNT(sample)];

	for (size_t i = 0; i < COUNT(y); i++)
		y[i] = 8 * sample[i] - 3;
	for (int kind = STATS_STUDENTISED; kind <= STATS_BCA; kind++) {
		struct stats_bootstrap how = { .kind = (enum stats_bootstrap_kind)kind, .level = 0.95, .draws = 499 };
		struct stats_interval i = values_interval(sample, COUNT(sample), how),
				      j = values_interval(y, COUNT(y), how);

		assert_true(is_near(j.lo, 8 * i.lo - 3, 1e-12) && is_near(j.hi, 8 * i.hi - 3, 1e-12));
	}
}

static void equal_and_few_values(void **state)
{
	static const double equal[] = { 4, 4, 4, 4 };

	for (int kind = STATS_STUDENTISED; kind <= STATS_BCA; kind++) {
		struct stats_bootstrap how = { .kind = (enum stats_bootstrap_kind)kind, .level = 0.95 };
		struct stats_interval i = values_interval(equal, 4, how);

		assert_true(i.estimate == 4 && i.lo == 4 && i.hi == 4);
		i = values_interval(equal, 1, how);
		assert_true(i.estimate == 4 && i.lo == -INFINITY && i.hi == INFINITY);
		how.draws = 9; /* cannot tell what lies beyond 97.5 %; BCa may ask for less */
		i = values_interval(sample, COUNT(sample), how);
		assert_true(kind == STATS_BCA || (i.lo == -INFINITY && i.hi == INFINITY));
	}
}

static void nonsense_is_refused(void **state)
{
	const double x[] = { 1, NAN };
	struct stats_bootstrap how = { .level = 0.95 };
	struct stats_runs none = { .count = 0 };
	struct arena arena = ARENA_INIT;
	struct stats_interval out;
	struct sonde_err err;

	assert_int_equal(stats_bootstrap_values(x, 2, &how, &arena, &out, &err), -EINVAL);
	assert_non_null(strstr(err.text, "not numbers"));
	assert_int_equal(stats_bootstrap_values(x, 0, &how, &arena, &out, &err), -EINVAL);
	assert_int_equal(stats_bootstrap_runs(&none, &how, &arena, &out, &err), -EINVAL);
	how.level = 1;
	assert_int_equal(stats_bootstrap_values(x, 1, &how, &arena, &out, &err), -EINVAL);
	how = (struct stats_bootstrap){ .level = 0.95, .draws = 100000000 };
	assert_int_equal(stats_bootstrap_values(x, 1, &how, &arena, &out, &err), -EINVAL);
	arena_release(&arena);
}

static void out_of_memory(void **state)
{
	static const size_t first[] = { 0, 2, 4 };
	struct stats_runs runs = { .x = sample, .first = first, .count = 2 };
	struct stats_bootstrap how = { .level = 0.95, .draws = 100000 };
	struct arena arena = ARENA_INIT;
	struct stats_interval out;

	alloc_fail_after(0);
	assert_int_equal(stats_bootstrap_values(sample, 5, &how, &arena, &out, NULL), -ENOMEM);
	assert_int_equal(stats_bootstrap_runs(&runs, &how, &arena, &out, NULL), -ENOMEM);
	alloc_fail_never();
	arena_release(&arena);
}

/* Runs of unlike length; whole runs are the bootstrap of their means. */
static void runs_are_drawn_whole(void **state)
{
	static const size_t first[] = { 0, 3, 10, 11, 20, 30 };
	struct stats_runs runs = { .x = sample, .first = first, .count = 5 };
	struct stats_bootstrap how = { .kind = STATS_STUDENTISED, .level = 0.9, .draws = 999, .seed = 3 };
	struct arena arena = ARENA_INIT;
	struct stats_interval whole, again;
	double means[5];

	for (size_t i = 0; i < 5; i++)
		means[i] = stats_weighted_mean(sample + first[i], NULL, first[i + 1] - first[i]);
	assert_int_equal(stats_bootstrap_runs(&runs, &how, &arena, &whole, NULL), 0);
	again = values_interval(means, 5, how);
	assert_true(are_same(&whole, &again) && whole.n == 5);
	how.block = 2;
	assert_int_equal(stats_bootstrap_runs(&runs, &how, &arena, &again, NULL), 0);
	assert_true(again.estimate == whole.estimate && again.lo != whole.lo);
	how.kind = STATS_BCA;
	assert_int_equal(stats_bootstrap_runs(&runs, &how, &arena, &again, NULL), -EINVAL);
	arena_release(&arena);
}

/* Blocks keep what neighbours have in common: a slow wave needs a wider interval than single values suggest. */
static void blocks_keep_dependence(void **state)
{
	struct stats_bootstrap how = { .kind = STATS_PERCENTILE, .level = 0.95, .draws = 999 };
	struct stats_interval single = values_interval(series, COUNT(series), how), blocks;

	how.block = 8;
	blocks = values_interval(series, COUNT(series), how);
	assert_true(blocks.hi - blocks.lo > 1.15 * (single.hi - single.lo));
}

static double coverage_of(enum stats_bootstrap_kind kind, size_t n, int rounds)
{
	struct stats_rng r;
	int held = 0;

	stats_rng_init(&r, 21, n);
	for (int k = 0; k < rounds; k++) {
		double x[40];
		struct stats_interval i;

		for (size_t j = 0; j < n; j++)
			x[j] = stats_rng_normal(&r);
		i = values_interval(x, n,
				(struct stats_bootstrap){ .kind = kind,
						.level = 0.95,
						.draws = 399,
						.seed = stats_rng_next(&r) });
		held += stats_interval_holds(&i, 0);
	}
	return (double)held / rounds;
}

static void covers_as_documented(void **state)
{
	assert_true(is_within(coverage_of(STATS_STUDENTISED, 25, 2000), 0.95, 0.015));
	assert_true(is_within(coverage_of(STATS_BCA, 5, 2000), 0.83, 0.03));
	assert_true(is_within(coverage_of(STATS_PERCENTILE, 5, 2000), 0.82, 0.03));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(near_scipy),
		cmocka_unit_test(a_seed_repeats),
		cmocka_unit_test(any_statistic),
		cmocka_unit_test(scale_and_shift),
		cmocka_unit_test(equal_and_few_values),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(out_of_memory),
		cmocka_unit_test(runs_are_drawn_whole),
		cmocka_unit_test(blocks_keep_dependence),
		cmocka_unit_test(covers_as_documented),
	};

	return RUN_TESTS(tests);
}
