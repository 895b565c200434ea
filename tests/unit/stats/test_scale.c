/* scale: as statsmodels.robust.qn has it times the small-sample factor; right on average; blind to wild values. */
#include "../support.h"

#include "near.h"
#include "stats/rng.h"
#include "stats/summary.h"

#include <string.h>

static void of_known_values(void **state)
{
	/* h = 3, so the third smallest distance: 0.5 0.5 1 -> 1 */
	const double x[] = { 1, 1.5, 2, 10, 30 };

	assert_true(is_near(stats_qn(x, 5), 2.21914 * 0.844 * 1, 1e-12));
}

static void is_the_standard_deviation_of_normal_values(void **state)
{
	struct stats_rng r;
	double x[STATS_QN_MAX];

	stats_rng_init(&r, 7, 0);
	for (size_t n = 2; n <= STATS_QN_MAX; n += 1 + n / 6) {
		double sum = 0;

		for (int round = 0; round < 4000; round++) {
			for (size_t i = 0; i < n; i++)
				x[i] = 3 * stats_rng_normal(&r);
			sum += stats_qn(x, n);
		}
		assert_true(is_near(sum / 4000, 3, 0.05));
	}
}

static void wild_values_do_not_count(void **state)
{
	struct stats_rng r;
	double x[20], before;

	stats_rng_init(&r, 8, 0);
	for (size_t i = 0; i < COUNT(x); i++)
		x[i] = stats_rng_normal(&r);
	before = stats_qn(x, COUNT(x));
	for (size_t i = 0; i < 6; i++)
		x[i] *= 1e6;
	assert_true(stats_qn(x, COUNT(x)) < 4 * before);
}

static void any_input(void **state)
{
	double x[STATS_QN_MAX + 1] = { 0 };

	assert_true(isnan(stats_qn(x, 0)) && isnan(stats_qn(x, 1)) && isnan(stats_qn(x, STATS_QN_MAX + 1)));
	assert_true(stats_qn(x, 5) == 0);
	x[1] = NAN;
	assert_true(isnan(stats_qn(x, 5)));
	x[1] = INFINITY;
	assert_true(isnan(stats_qn(x, 5)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_known_values),
		cmocka_unit_test(is_the_standard_deviation_of_normal_values),
		cmocka_unit_test(wild_values_do_not_count),
		cmocka_unit_test(any_input),
	};

	return RUN_TESTS(tests);
}
