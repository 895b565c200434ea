/* order: sorted whatever the input, values that go along, and the first double that passes. */
#include "../support.h"

#include "near.h"
#include "sample.h"
#include "stats/summary.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void any_array_is_sorted(void **state)
{
	double x[3000], expected[3000];
	struct stats_rng r;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	for (int round = 0; round < 600; round++) {
		size_t n = stats_rng_below(&r, round % 10 ? 100 : 3000);

		sample_fill(&r, round, x, n);
		memcpy(expected, x, sizeof(x));
		qsort(expected, n, sizeof(*expected), compare);
		stats_sort(x, n);
		assert_memory_equal(x, expected, n * sizeof(*x));
	}
}

/* Arrays that drive a median-of-three quicksort to its worst: organ pipe, and all the same. */
static void hard_arrays_take_no_time(void **state)
{
	enum { N = 300000 };
	double *x = malloc(N * sizeof(*x));

	assert_non_null(x);
	for (int round = 0; round < 3; round++) {
		for (size_t i = 0; i < N; i++)
			x[i] = round == 0            ? (double)(i < N / 2 ? i : N - i)
					: round == 1 ? 1
						     : (double)(i % 2 ? i : N - i);
		stats_sort(x, N);
		for (size_t i = 1; i < N; i++)
			assert_true(x[i - 1] <= x[i]);
	}
	free(x);
}

static void nan_come_last(void **state)
{
	double x[] = { NAN, 3, -INFINITY, NAN, INFINITY, 1 };

	assert_true(stats_has_nan(x, 6));
	assert_false(stats_has_nan(x + 1, 2));
	assert_false(stats_has_nan(x, 0));
	stats_sort(x, 6);
	assert_true(x[0] == -INFINITY && x[1] == 1 && x[2] == 3 && x[3] == INFINITY && isnan(x[4]) && isnan(x[5]));
	assert_int_equal(stats_drop_nan(x, 6), 4);
	stats_sort(x, 0);
}

static void dropping_keeps_the_order(void **state)
{
	double x[] = { 5, NAN, 4, 9, NAN };

	assert_int_equal(stats_drop_nan(x, 5), 3);
	assert_true(x[0] == 5 && x[1] == 4 && x[2] == 9);
}

static void others_go_along(void **state)
{
	double key[500], with[500];
	struct stats_rng r;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	for (int round = 0; round < 100; round++) {
		size_t n = stats_rng_below(&r, 500);

		sample_fill(&r, round, key, n);
		for (size_t i = 0; i < n; i++)
			with[i] = key[i] * 2 + 1;
		stats_sort_with(key, with, n);
		for (size_t i = 0; i < n; i++)
			assert_true(with[i] == key[i] * 2 + 1 && (i == 0 || key[i - 1] <= key[i]));
	}
}

static bool is_at_least(const void *context, double v)
{
	return v >= *(const double *)context;
}

static void first_value_is_exact(void **state)
{
	struct stats_rng r;

	random_init();
	stats_rng_init(&r, random_u64(), 0);
	for (int i = 0; i < 2000; i++) {
		double wanted = sample_value(&r, i, (size_t)i);

		assert_true(stats_first_value(-DBL_MAX, DBL_MAX, is_at_least, &wanted) == wanted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_array_is_sorted),
		cmocka_unit_test(hard_arrays_take_no_time),
		cmocka_unit_test(nan_come_last),
		cmocka_unit_test(dropping_keeps_the_order),
		cmocka_unit_test(others_go_along),
		cmocka_unit_test(first_value_is_exact),
	};

	return RUN_TESTS(tests);
}
