/* autocorrelation: as numpy has it; series that depend on themselves count for less, and want longer blocks. */
#include "../support.h"

#include "near.h"
#include "oracle.h"
#include "stats/rng.h"
#include "stats/series.h"

#include <stdlib.h>

static void matches_numpy(void **state)
{
	for (size_t lag = 0; lag < COUNT(series_correlation); lag++)
		assert_true(is_near(stats_autocorrelation(series, COUNT(series), lag), series_correlation[lag], 1e-12));
}

static void make_series(struct stats_rng *r, double *x, size_t n, double phi)
{
	double last = stats_rng_normal(r);

	for (size_t i = 0; i < n; i++)
		x[i] = last = phi * last + sqrt(1 - phi * phi) * stats_rng_normal(r);
}

static void blocks_grow_with_dependence(void **state)
{
	enum { N = 500 };
	double x[N];
	struct stats_rng r;
	size_t lengths[3];

	stats_rng_init(&r, 92, 0);
	for (int i = 0; i < 3; i++) {
		make_series(&r, x, N, 0.45 * i);
		lengths[i] = stats_block_length(x, N);
	}
	assert_true(lengths[0] <= 4 && lengths[1] > lengths[0] && lengths[2] > 1.5 * (double)lengths[1]);
	assert_true(lengths[2] <= N / 3);
}

static void odd_series(void **state)
{
	double equal[] = { 2, 2, 2, 2, 2, 2 }, absent[] = { 1, 2, NAN, 4, 5 }, turns[] = { 1, -1, 1, -1, 1, -1, 1, -1 };

	for (size_t n = 0; n <= 6; n++) {
		assert_true(stats_autocorrelation(equal, n, 1) == 0);
		assert_int_equal(stats_block_length(equal, n), 1);
	}
	assert_true(stats_autocorrelation(equal, 6, 0) == 1 && stats_autocorrelation(turns, 8, 99) == 0);
	assert_true(isnan(stats_autocorrelation(absent, 5, 1)));
	assert_int_equal(stats_block_length(absent, 5), 1);
	assert_true(stats_autocorrelation(turns, 8, 1) < -0.8);
	assert_true(stats_block_length(turns, 8) >= 1 && stats_block_length(turns, 8) <= 2);
	assert_int_equal(stats_block_length(series, 4), 1);
}

static void scale_and_shift(void **state)
{
	double y[COUNT(series)];

	for (size_t i = 0; i < COUNT(y); i++)
		y[i] = 1e6 - 3 * series[i];
	assert_true(is_near(stats_autocorrelation(y, COUNT(y), 1), stats_autocorrelation(series, COUNT(series), 1),
			1e-6));
	assert_int_equal(stats_block_length(y, COUNT(y)), stats_block_length(series, COUNT(series)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(matches_numpy),
		cmocka_unit_test(blocks_grow_with_dependence),
		cmocka_unit_test(odd_series),
		cmocka_unit_test(scale_and_shift),
	};

	return RUN_TESTS(tests);
}
