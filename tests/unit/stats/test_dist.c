/* dist: distribution functions and quantiles to ten digits, in the tails too, and the same there and back. */
#include "../support.h"

#include "near.h"
#include "oracle.h"
#include "stats/dist.h"

#define EXACT 1e-11

static void normal_matches(void **state)
{
	for (size_t i = 0; i < COUNT(normal_oracle); i++) {
		assert_true(is_near(stats_normal_cdf(normal_oracle[i].z), normal_oracle[i].p, EXACT));
		assert_true(is_within(stats_normal_quantile(normal_oracle[i].p), normal_oracle[i].quantile,
				1e-14 + 1e-13 * fabs(normal_oracle[i].z)));
	}
	assert_true(is_near(stats_normal_density(1), 0.24197072451914337, EXACT));
}

static void t_matches(void **state)
{
	for (size_t i = 0; i < COUNT(t_oracle); i++) {
		assert_true(is_near(stats_t_cdf(t_oracle[i].t, t_oracle[i].df), t_oracle[i].p, EXACT));
		assert_true(is_near(stats_t_quantile(t_oracle[i].p, t_oracle[i].df), t_oracle[i].quantile, 1e-11));
	}
}

static void chi2_matches(void **state)
{
	for (size_t i = 0; i < COUNT(chi2_oracle); i++) {
		double df = chi2_oracle[i].df;

		assert_true(is_near(stats_chi2_quantile(chi2_oracle[i].p, df), chi2_oracle[i].quantile, 1e-11));
	}
}

static void beta_matches(void **state)
{
	for (size_t i = 0; i < COUNT(beta_oracle); i++) {
		double x = beta_oracle[i].x, a = beta_oracle[i].a, b = beta_oracle[i].b;

		assert_true(is_near(stats_beta_cdf(x, a, b), beta_oracle[i].p, EXACT));
		assert_true(is_near(stats_beta_quantile(beta_oracle[i].p, a, b), beta_oracle[i].quantile, 1e-11));
	}
}

static void quantile_is_the_inverse(void **state)
{
	random_init();
	for (int i = 0; i < 2000; i++) {
		double p = exp(-(double)random_below(600000) / 1000), df = exp((double)random_below(12000) / 1000 - 2);
		double a = exp((double)random_below(8000) / 1000 - 2), b = exp((double)random_below(8000) / 1000 - 2);
		double t = stats_t_quantile(p, df), y = stats_beta_quantile(p, a, b);

		/* the relative step from one double to the next, times df, is what a quantile cannot resolve */
		if (isfinite(t))
			assert_true(is_near(stats_t_cdf(t, df), p, 1e-9));
		if (y > 1e-300 && y < 0.9)
			assert_true(is_near(stats_beta_cdf(y, a, b), p, 1e-9));
	}
}

static void special_cases_of_t(void **state)
{
	for (double t = -20; t <= 20; t += 0.37) {
		assert_true(is_near(stats_t_cdf(t, 1), 0.5 + atan(t) / M_PI, 1e-11));
		assert_true(is_near(stats_t_cdf(t, 2), 0.5 + t / (2 * sqrt(2 + t * t)), 1e-11));
		assert_true(is_near(stats_t_cdf(t, INFINITY), stats_normal_cdf(t), 1e-15));
		assert_true(is_near(stats_t_cdf(t, 7.5) + stats_t_cdf(-t, 7.5), 1, 1e-14));
	}
	assert_true(stats_t_quantile(0.5, 3) == 0);
	assert_true(is_near(stats_t_quantile(0.975, 1e13), 1.959963984540054, 1e-12));
	assert_true(is_near(stats_t_quantile(1e-20, 99999), stats_t_quantile(1e-20, 100001), 1e-7));
}

static void ends_are_defined(void **state)
{
	assert_true(stats_normal_quantile(0) == -INFINITY && stats_normal_quantile(1) == INFINITY);
	assert_true(stats_t_quantile(0, 3) == -INFINITY && stats_t_quantile(1, 3) == INFINITY);
	assert_true(stats_t_cdf(-INFINITY, 3) == 0 && stats_t_cdf(INFINITY, 3) == 1);
	assert_true(stats_t_cdf(1e-200, 3) == 0.5 && stats_t_cdf(0, 3) == 0.5);
	assert_true(is_near(stats_t_cdf(-1e150, 1), 1e-150 / M_PI, 1e-12));
	assert_true(stats_chi2_quantile(0, 3) == 0 && stats_chi2_quantile(1, 3) == INFINITY);
	assert_true(stats_beta_cdf(-1, 2, 3) == 0 && stats_beta_cdf(2, 2, 3) == 1);
	assert_true(stats_beta_quantile(0, 2, 3) == 0 && stats_beta_quantile(1, 2, 3) == 1);
}

static void nonsense_is_nan(void **state)
{
	assert_true(isnan(stats_normal_cdf(NAN)) && isnan(stats_normal_quantile(NAN)));
	assert_true(isnan(stats_normal_quantile(-0.1)) && isnan(stats_normal_quantile(1.1)));
	assert_true(isnan(stats_t_cdf(1, 0)) && isnan(stats_t_cdf(NAN, 3)) && isnan(stats_t_cdf(1, NAN)));
	assert_true(isnan(stats_t_quantile(0.5, -1)) && isnan(stats_t_quantile(2, 3)) &&
			isnan(stats_t_quantile(NAN, 3)));
	assert_true(isnan(stats_chi2_quantile(0.5, 0)) && isnan(stats_chi2_quantile(0.5, INFINITY)));
	assert_true(isnan(stats_chi2_quantile(-0.1, 3)) && isnan(stats_chi2_quantile(1.1, 3)));
	assert_true(isnan(stats_beta_cdf(0.5, 0, 1)) && isnan(stats_beta_quantile(0.5, 1, -1)));
	assert_true(isnan(stats_beta_quantile(NAN, 1, 1)) && isnan(stats_beta_cdf(NAN, 1, 1)));
}

/* Clopper and Pearson's own figures: binomial tests of the ends have a p of 2.5 % each. */
static void binomial_interval(void **state)
{
	double lo, hi;

	stats_binomial_interval(5, 20, 0.95, &lo, &hi);
	assert_true(is_near(lo, 0.0865714691, 1e-8) && is_near(hi, 0.4910458717, 1e-8));
	stats_binomial_interval(0, 20, 0.95, &lo, &hi);
	assert_true(lo == 0 && is_near(hi, 1 - pow(0.025, 1.0 / 20), 1e-11));
	stats_binomial_interval(20, 20, 0.95, &lo, &hi);
	assert_true(hi == 1 && is_near(lo, pow(0.025, 1.0 / 20), 1e-11));
	stats_binomial_interval(0, 0, 0.95, &lo, &hi);
	assert_true(lo == 0 && hi == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(normal_matches),
		cmocka_unit_test(t_matches),
		cmocka_unit_test(chi2_matches),
		cmocka_unit_test(beta_matches),
		cmocka_unit_test(quantile_is_the_inverse),
		cmocka_unit_test(special_cases_of_t),
		cmocka_unit_test(ends_are_defined),
		cmocka_unit_test(nonsense_is_nan),
		cmocka_unit_test(binomial_interval),
	};

	return RUN_TESTS(tests);
}
