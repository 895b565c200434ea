/* warp: rising, back to where it came from, and without skew for skewed costs. */
#include "../support.h"

#include "../stats/near.h"
#include "stats/rng.h"
#include "tune/warp.h"

enum { N = 60 };

static double skew_of(const double *x)
{
	double mean = 0, m2 = 0, m3 = 0;

	for (int i = 0; i < N; i++)
		mean += x[i] / N;
	for (int i = 0; i < N; i++) {
		m2 += (x[i] - mean) * (x[i] - mean) / N;
		m3 += (x[i] - mean) * (x[i] - mean) * (x[i] - mean) / N;
	}
	return m3 / pow(m2, 1.5);
}

static void check(const double *cost)
{
	double scratch[N], last = -INFINITY, sum = 0, sum2 = 0, sum3 = 0;
	struct tune_warp w;

	tune_warp_fit(&w, cost, N, scratch);
	for (int i = 0; i < N; i++) {
		double y = tune_warp(&w, cost[i]);

		sum += y / N;
		sum2 += y * y / N;
		sum3 += y * y * y / N;
		assert_true(is_near(tune_unwarp(&w, y), cost[i], 1e-6));
	}
	assert_true(is_within(sum, 0, 1e-9) && is_within(sum2, 1, 0.05) &&
			fabs(sum3) < fmax(0.6, 0.5 * fabs(skew_of(cost))));
	for (int i = 0; i <= 20; i++) {
		double y = tune_warp(&w, cost[0] + (cost[1] - cost[0]) * i / 20);

		assert_true(cost[1] > cost[0] ? y > last : i == 0 || y < last);
		last = y;
	}
}

static void skewed_costs_become_even(void **state)
{
	struct stats_rng rng;
	double cost[N];

	stats_rng_init(&rng, 1, 1);
	for (int kind = 0; kind < 4; kind++) {
		for (int i = 0; i < N; i++) {
			double z = stats_rng_normal(&rng);

			cost[i] = kind == 0 ? 5 + z : kind == 1 ? exp(2 * z) : kind == 2 ? -exp(z) : 100 + z * z * z;
		}
		check(cost);
	}
}

static void few_or_equal_costs_are_fine(void **state)
{
	double same[] = { 3, 3, 3, 3, 3, 3 }, one[] = { 7 }, scratch[6];
	struct tune_warp w;

	tune_warp_fit(&w, same, 6, scratch);
	assert_true(tune_warp(&w, 3) == 0 && tune_unwarp(&w, 0) == 3);
	tune_warp_fit(&w, one, 1, scratch);
	assert_true(tune_warp(&w, 7) == 0);
}

static void logarithms_of_gains(void **state)
{
	double gain[] = { -1, -2, -8 }, cost[] = { 1, 2, 8 }, scratch[3];
	struct tune_warp w;

	tune_warp_log(&w, gain, 3, scratch);
	assert_true(tune_warp(&w, -8) < tune_warp(&w, -1) && is_near(tune_unwarp(&w, tune_warp(&w, -3)), -3, 1e-9));
	tune_warp_log(&w, cost, 3, scratch);
	assert_true(tune_warp(&w, 8) > tune_warp(&w, 1) && is_near(tune_unwarp(&w, tune_warp(&w, 3)), 3, 1e-9));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(skewed_costs_become_even),
		cmocka_unit_test(few_or_equal_costs_are_fine),
		cmocka_unit_test(logarithms_of_gains),
	};

	return RUN_TESTS(tests);
}
