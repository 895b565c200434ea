/* interval: Student's and Welch's as scipy has them, open where nothing is known, and covering as they promise. */
#include "../support.h"

#include "near.h"
#include "oracle.h"
#include "stats/interval.h"
#include "stats/rng.h"

static void student_matches_scipy(void **state)
{
	struct stats_interval i = stats_mean_interval(sample, COUNT(sample), 0.95);

	assert_true(is_near(i.estimate, sample_mean, 1e-13) && is_near(i.lo, sample_t_lo, 1e-12));
	assert_true(is_near(i.hi, sample_t_hi, 1e-12) && i.n == COUNT(sample) && i.df == COUNT(sample) - 1);
	assert_true(is_near(stats_interval_p(&i, i.lo), 0.05, 1e-10) && stats_interval_p(&i, i.estimate) == 1);
	assert_true(stats_interval_holds(&i, i.lo) && !stats_interval_holds(&i, i.hi + 1) &&
			!stats_interval_holds(&i, NAN));
}

static void welch_matches_scipy(void **state)
{
	size_t half = COUNT(sample) / 2;
	struct stats_moments a = stats_moments_of(sample, half),
			     b = stats_moments_of(sample + half, COUNT(sample) - half);
	struct stats_interval i = stats_welch_interval(&a, &b, 0.95);

	assert_true(is_near(stats_interval_p(&i, 0), sample_welch_p, 1e-10) && i.n == COUNT(sample));
	assert_true(is_near(stats_interval_p(&i, i.hi), 0.05, 1e-10));
}

static void log_ratios(void **state)
{
	assert_true(is_near(stats_log_ratio(2, 4), log(2), 1e-15) && isnan(stats_log_ratio(0, 1)));
	assert_true(isnan(stats_log_ratio(1, -1)) && isnan(stats_log_ratio(1, INFINITY)) &&
			isnan(stats_log_ratio(NAN, 1)));
	assert_true(is_near(stats_log_ratio(1e-300, 1e300), 600 * log(10), 1e-14));
}

static void a_ratio_is_exp_of_its_logarithm(void **state)
{
	struct stats_interval i = stats_mean_interval(sample, COUNT(sample), 0.95), e = stats_interval_exp(&i);

	assert_true(e.estimate == exp(i.estimate) && e.lo == exp(i.lo) && e.hi == exp(i.hi) && isnan(e.se));
	assert_true(e.n == i.n && e.level == i.level && e.method == i.method);
}

static bool is_open(const struct stats_interval *i)
{
	return i->lo == -INFINITY && i->hi == INFINITY && isnan(stats_interval_p(i, 0));
}

static void little_data_is_open(void **state)
{
	double x[] = { 3, NAN };
	struct stats_moments one = stats_moments_of(x, 1), none = stats_moments_of(x, 0);
	struct stats_interval i = stats_mean_interval(x, 0, 0.95);

	assert_true(isnan(i.estimate) && is_open(&i));
	i = stats_mean_interval(x, 1, 0.95);
	assert_true(i.estimate == 3 && is_open(&i));
	i = stats_mean_interval(x, 2, 0.95);
	assert_true(isnan(i.estimate) && is_open(&i));
	i = stats_welch_interval(&one, &one, 0.95);
	assert_true(i.estimate == 0 && is_open(&i));
	i = stats_welch_interval(&one, &none, 0.95);
	assert_true(isnan(i.estimate) && is_open(&i));
}

static void bad_levels_are_open(void **state)
{
	static const double levels[] = { 0, 1, -1, 2, NAN };

	for (size_t k = 0; k < COUNT(levels); k++) {
		struct stats_interval i = stats_mean_interval(sample, COUNT(sample), levels[k]);

		assert_true(isnan(i.estimate) && i.lo == -INFINITY && i.hi == INFINITY);
	}
}

static void no_spread_is_a_point(void **state)
{
	double x[] = { 2, 2, 2 }, y[] = { 5, 5 };
	struct stats_moments a = stats_moments_of(x, 3), b = stats_moments_of(y, 2), c = stats_moments_of(sample, 5);
	struct stats_interval i = stats_mean_interval(x, 3, 0.95);

	assert_true(i.lo == 2 && i.hi == 2 && stats_interval_p(&i, 2) == 1 && stats_interval_p(&i, 1) == 0);
	i = stats_welch_interval(&a, &b, 0.95);
	assert_true(i.lo == 3 && i.hi == 3);
	i = stats_welch_interval(&a, &c, 0.95);
	assert_true(is_near(i.df, 4, 1e-12) && isfinite(i.lo));
}

/* 95 % of intervals of so many normal values hold the mean. */
static void student_covers(void **state)
{
	struct stats_rng r;

	stats_rng_init(&r, 11, 0);
	for (size_t n = 2; n <= 20; n += 6) {
		int held = 0;

		for (int k = 0; k < 10000; k++) {
			double x[20];
			struct stats_interval i;

			for (size_t j = 0; j < n; j++)
				x[j] = 7 + stats_rng_normal(&r);
			i = stats_mean_interval(x, n, 0.95);
			held += stats_interval_holds(&i, 7);
		}
		assert_true(is_within(held, 9500, 80));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(student_matches_scipy),
		cmocka_unit_test(welch_matches_scipy),
		cmocka_unit_test(log_ratios),
		cmocka_unit_test(a_ratio_is_exp_of_its_logarithm),
		cmocka_unit_test(little_data_is_open),
		cmocka_unit_test(bad_levels_are_open),
		cmocka_unit_test(no_spread_is_a_point),
		cmocka_unit_test(student_covers),
	};

	return RUN_TESTS(tests);
}
