/* acquisition: log EI and the log of the normal distribution, against plain integration and far out in the tails. */
#include "../support.h"

#include "../stats/near.h"
#include "tune/acquisition.h"

/* The expectation of max(target - y, 0) by Simpson's rule. */
static double integrated(double mean, double sd, double target)
{
	double lo = mean - 12 * sd, hi = fmin(target, mean + 12 * sd), sum = 0;
	int n = 20000;

	if (hi <= lo)
		return 0;
	for (int i = 0; i <= n; i++) {
		double y = lo + (hi - lo) * i / n, z = (y - mean) / sd;

		sum += (i == 0 || i == n ? 1 : i % 2 ? 4 : 2) * (target - y) * exp(-0.5 * z * z);
	}
	return sum * (hi - lo) / n / 3 / (sd * sqrt(2 * M_PI));
}

static void it_is_the_expectation(void **state)
{
	static const double cases[][3] = { { 0, 1, 0 }, { 1, 0.5, 0.3 }, { -2, 0.1, -2.2 }, { 0, 1, 5 }, { 0, 1, -5 },
		{ 3, 2, 1 } };

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_true(is_near(exp(tune_log_ei(cases[i][0], cases[i][1], cases[i][2], NULL, NULL)),
				integrated(cases[i][0], cases[i][1], cases[i][2]), 1e-7));
}

/* No jump where one formula takes over from another, and finite wherever doubles reach. */
static void it_is_smooth_everywhere(void **state)
{
	for (double z = 3; z > -60; z -= 0.01) {
		double here = tune_log_ei(0, 1, z, NULL, NULL), next = tune_log_ei(0, 1, z - 0.01, NULL, NULL), d, s;

		assert_true(isfinite(here) && next < here);
		tune_log_ei(0, 1, z - 0.005, &d, &s);
		assert_true(is_near((next - here) / 0.01, d, 1e-3));
		assert_true(isfinite(s) && s > 0);
	}
	assert_true(isfinite(tune_log_ei(0, 1, -1e4, NULL, NULL)) && isfinite(tune_log_ei(0, 1e-9, -1, NULL, NULL)));
}

static void log_cdf_is_right_in_the_tails(void **state)
{
	double slope;

	assert_true(is_near(tune_log_cdf(0, &slope), log(0.5), 1e-14) && is_near(slope, 2 / sqrt(2 * M_PI), 1e-12));
	assert_true(is_near(tune_log_cdf(-10, NULL), -53.23128515051247, 1e-10)); /* scipy.stats.norm.logcdf */
	assert_true(is_near(tune_log_cdf(-40, NULL), -804.6084420137538, 1e-7));
	assert_true(is_near(tune_log_cdf(6, NULL), -9.865876454867e-10, 1e-6));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_is_the_expectation),
		cmocka_unit_test(it_is_smooth_everywhere),
		cmocka_unit_test(log_cdf_is_right_in_the_tails),
	};

	return RUN_TESTS(tests);
}
