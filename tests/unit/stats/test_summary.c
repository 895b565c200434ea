/* summary: as numpy and scipy have it, merged in any way, and defined for nothing, one, equal and absent values. */
#include "../support.h"

#include "near.h"
#include "oracle.h"
#include "sample.h"
#include "stats/summary.h"

#include <string.h>

static void matches_numpy(void **state)
{
	struct stats_moments m = stats_moments_of(sample, COUNT(sample));
	double x[COUNT(sample)];

	memcpy(x, sample, sizeof(x));
	assert_true(is_near(m.mean, sample_mean, 1e-14) && is_near(stats_variance(&m), sample_variance, 1e-13));
	assert_true(is_near(stats_sd(&m), sqrt(sample_variance), 1e-13));
	assert_true(is_near(stats_quantile(x, COUNT(x), 0.1), sample_q10, 1e-14));
	assert_true(is_near(stats_sorted_quantile(x, COUNT(x), 0.99), sample_q99, 1e-14));
	assert_true(is_near(stats_median(x, COUNT(x)), sample_median, 1e-14));
}

static bool are_alike(const struct stats_moments *a, const struct stats_moments *b)
{
	return a->n == b->n && a->min == b->min && a->max == b->max && is_near(a->mean, b->mean, 1e-9) &&
			is_near(stats_variance(a), stats_variance(b), 1e-9);
}

/* Cut anywhere, merged in any grouping. */
static void merges_are_associative(void **state)
{
	double x[200];
	struct stats_rng r;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	for (int round = 0; round < 200; round++) {
		size_t i = stats_rng_below(&r, 100), j = 100 + stats_rng_below(&r, 100);
		struct stats_moments a, b, c, left, right, all;

		sample_fill(&r, round % 2, x, 200);
		for (size_t k = 0; k < 200; k++)
			x[k] += 1000;
		a = stats_moments_of(x, i);
		b = stats_moments_of(x + i, j - i);
		c = stats_moments_of(x + j, 200 - j);
		all = stats_moments_of(x, 200);
		left = a;
		stats_moments_merge(&left, &b);
		stats_moments_merge(&left, &c);
		right = b;
		stats_moments_merge(&right, &c);
		stats_moments_merge(&right, &a);
		assert_true(are_alike(&left, &all) && are_alike(&right, &all));
	}
}

static void large_offsets_do_not_cancel(void **state)
{
	double x[] = { 1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16 };
	struct stats_moments m = stats_moments_of(x, 4);

	assert_true(is_near(stats_variance(&m), 30, 1e-12));
}

static void scale_and_shift(void **state)
{
	double x[101], y[101];
	struct stats_rng r;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	sample_fill(&r, 0, x, 101);
	for (size_t i = 0; i < 101; i++)
		y[i] = 5 - 2 * x[100 - i];
	assert_true(is_near(stats_quantile(y, 101, 0.3), 5 - 2 * stats_quantile(x, 101, 0.7), 1e-12));
}

static void few_values(void **state)
{
	struct stats_moments m = stats_moments_of(NULL, 0);
	double one[] = { 4 }, two[] = { 6, 2 };

	assert_true(isnan(m.mean) && isnan(m.min) && isnan(stats_variance(&m)) && isnan(stats_median(NULL, 0)));
	m = stats_moments_of(one, 1);
	assert_true(m.mean == 4 && isnan(stats_sd(&m)) && stats_median(one, 1) == 4);
	m = stats_moments_of(two, 2);
	assert_true(m.mean == 4 && stats_variance(&m) == 8 && stats_median(two, 2) == 4);
	assert_true(stats_sorted_quantile(two, 2, -1) == 2 && stats_sorted_quantile(two, 2, 7) == 6);
}

static void equal_and_absent_values(void **state)
{
	double equal[] = { 0.1, 0.1, 0.1 }, absent[] = { 1, NAN, 2 }, infinite[] = { -INFINITY, 1, INFINITY };
	struct stats_moments m = stats_moments_of(equal, 3);

	assert_true(m.mean == 0.1 && stats_variance(&m) == 0);
	m = stats_moments_of(absent, 3);
	assert_true(isnan(m.mean) && isnan(m.min) && isnan(m.max) && isnan(stats_variance(&m)));
	assert_true(isnan(stats_median(absent, 3)));
	assert_true(stats_median(infinite, 3) == 1 && stats_quantile(infinite, 3, 1) == INFINITY);
	m = stats_moments_of(infinite, 3);
	assert_true(isnan(m.mean) && m.min == -INFINITY && m.max == INFINITY);
}

static void weighted_mean(void **state)
{
	double x[] = { 1, 2, 10 }, w[] = { 1, 3, 0 }, huge[] = { 1.7e308, 1.7e308 };

	assert_true(is_near(stats_weighted_mean(x, w, 3), 1.75, 1e-15));
	assert_true(is_near(stats_weighted_mean(x, NULL, 3), 13.0 / 3, 1e-15));
	assert_true(isnan(stats_weighted_mean(x, w + 2, 1)) && isnan(stats_weighted_mean(x, w, 0)));
	assert_true(stats_weighted_mean(huge, NULL, 2) == 1.7e308);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_numpy),
		cmocka_unit_test(merges_are_associative),
		cmocka_unit_test(large_offsets_do_not_cancel),
		cmocka_unit_test(scale_and_shift),
		cmocka_unit_test(few_values),
		cmocka_unit_test(equal_and_absent_values),
		cmocka_unit_test(weighted_mean),
	};

	return RUN_TESTS(tests);
}
