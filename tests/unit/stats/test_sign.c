/* sign: as scipy's binomtest and tables have it; narrow where values are near or far; defined for anything. */
#include "../support.h"

#include "near.h"
#include "stats/ranks.h"
#include "stats/rng.h"

#include <string.h>

static void of_known_values(void **state)
{
	double x[] = { 5, 1, 4, 2, 3, 6, 8, 7, 10, 9 };
	struct stats_interval i = stats_median_interval(x, 10, 0.95);

	/* of 10 values the second and the ninth hold the median with 97.85 % */
	assert_true(i.estimate == 5.5 && i.lo == 2 && i.hi == 9 && i.n == 10);
	assert_true(is_near(stats_sign_p(x, 10, 1.5), 22.0 / 1024, 1e-12)); /* 1 below, 9 above */
	assert_true(stats_sign_p(x, 10, 5.5) == 1);
	assert_true(is_near(stats_sign_p(x, 10, 1), 2.0 / 512, 1e-12)); /* the one that is equal is left out */
}

static void too_few(void **state)
{
	double x[] = { 1, 2, 3, 4, 5, 6 };

	assert_true(isinf(stats_median_interval(x, 5, 0.95).lo) && isinf(stats_median_interval(x, 5, 0.95).hi));
	assert_true(stats_median_interval(x, 6, 0.95).lo == 1 && stats_median_interval(x, 6, 0.95).hi == 6);
	assert_true(isnan(stats_median_interval(x, 0, 0.95).estimate));
	assert_true(isnan(stats_sign_p(x, 0, 0)) && isnan(stats_sign_p(x, 1, 1)));
}

/* It covers, and where a third of the times is far off it is many times narrower than ranks. */
static void near_or_far(void **state)
{
	struct stats_rng r;
	size_t held = 0, rounds = 2000;
	double own = 0, ranks = 0;

	stats_rng_init(&r, 5, 0);
	for (size_t k = 0; k < rounds; k++) {
		double x[80], y[80];
		struct stats_interval i;

		for (size_t n = 0; n < COUNT(x); n++)
			x[n] = 0.02 * stats_rng_normal(&r) + 2 * (stats_rng_uniform(&r) < 1.0 / 3) -
					2 * (stats_rng_uniform(&r) < 1.0 / 3);
		memcpy(y, x, sizeof(y));
		i = stats_median_interval(x, COUNT(x), 0.95);
		held += stats_interval_holds(&i, 0);
		own += i.hi - i.lo;
		i = stats_hl_interval(y, COUNT(y), 0.95);
		ranks += i.hi - i.lo;
	}
	assert_true((double)held / (double)rounds >= 0.94);
	assert_true(5 * own < ranks);
}

/* Two samples: as scipy's mannwhitneyu has it. */
static void rank_sums(void **state)
{
	double a[] = { 3, 1, 2 }, b[] = { 8, 4, 5, 6, 7 }, c[] = { 1, 3, 5 }, d[] = { 2, 4, 6 }, e[] = { 1, 1 },
	       f[] = { 1, 1 };
	size_t small = 0, large = 0, rounds = 2000;
	struct stats_rng r;

	assert_true(is_near(stats_rank_sum_p(a, 3, b, 5), 2.0 / 56, 1e-12)); /* apart: two of the 8 over 3 orders */
	assert_true(is_near(stats_rank_sum_p(b, 5, a, 3), 2.0 / 56, 1e-12));
	assert_true(is_near(stats_rank_sum_p_least(3, 5), 2.0 / 56, 1e-12));
	assert_true(is_near(stats_rank_sum_p(c, 3, d, 3), 0.7, 1e-12));
	assert_true(stats_rank_sum_p(e, 2, f, 2) == 1);
	assert_true(isnan(stats_rank_sum_p(a, 0, b, 5)) && stats_rank_sum_p_least(0, 5) == 1);
	stats_rng_init(&r, 3, 0);
	for (size_t k = 0; k < rounds; k++) {
		double x[40], y[40];

		for (size_t i = 0; i < COUNT(x); i++) {
			x[i] = stats_rng_normal(&r);
			y[i] = stats_rng_normal(&r);
		}
		small += stats_rank_sum_p(x, 8, y, 20) <= 0.05; /* exact */
		large += stats_rank_sum_p(x, 40, y, 40) <= 0.05;
	}
	assert_true(small > rounds / 40 && small <= rounds * 6 / 100);
	assert_true(large > rounds / 40 && large <= rounds * 6 / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rank_sums),
		cmocka_unit_test(of_known_values),
		cmocka_unit_test(too_few),
		cmocka_unit_test(near_or_far),
	};

	return RUN_TESTS(tests);
}
