/* matrix and minimize: factors multiply back, inverses undo, and valleys within walls are found. */
#include "../support.h"

#include "near.h"
#include "stats/matrix.h"
#include "stats/minimize.h"

#include <string.h>

enum { N = 23 };

/* b b' + 1: positive definite. */
static void random_matrix(double *a, size_t n)
{
	double b[N * N];

	for (size_t i = 0; i < n * n; i++)
		b[i] = (double)random_below(1000) / 500 - 1;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < n; j++)
			a[i * n + j] = stats_dot(b + i * n, b + j * n, n) + (i == j);
}

static void factors_multiply_back(void **state)
{
	random_init();
	for (size_t n = 1; n <= N; n++) {
		double a[N * N], l[N * N];

		random_matrix(a, n);
		memcpy(l, a, sizeof(l));
		assert_true(stats_cholesky(l, n));
		for (size_t i = 0; i < n; i++)
			for (size_t j = 0; j <= i; j++)
				assert_true(is_within(stats_dot(l + i * n, l + j * n, j + 1), a[i * n + j], 1e-10));
	}
}

static void inverses_undo(void **state)
{
	double a[N * N], l[N * N], scratch[N * N], inverse[N * N], b[N], x[N];

	random_init();
	random_matrix(a, N);
	memcpy(l, a, sizeof(l));
	assert_true(stats_cholesky(l, N));
	stats_cholesky_inverse(l, N, scratch, inverse);
	for (size_t i = 0; i < N; i++)
		for (size_t j = 0; j < N; j++)
			assert_true(is_within(stats_dot(a + i * N, inverse + j * N, N), i == j, 1e-9));
	for (size_t i = 0; i < N; i++)
		b[i] = (double)i;
	stats_forward(l, N, b, x);
	stats_backward(l, N, x, x);
	for (size_t i = 0; i < N; i++)
		assert_true(is_within(stats_dot(a + i * N, x, N), b[i], 1e-8));
}

static void not_positive_is_refused(void **state)
{
	double singular[] = { 1, 1, 1, 1 }, negative[] = { -1 }, nan[] = { NAN };

	assert_false(stats_cholesky(singular, 2));
	assert_false(stats_cholesky(negative, 1));
	assert_false(stats_cholesky(nan, 1));
}

/* Rosenbrock's valley. */
static double valley(const double *x, double *g, void *context)
{
	double a = x[1] - x[0] * x[0];

	(*(int *)context)++;
	g[0] = -400 * x[0] * a - 2 * (1 - x[0]);
	g[1] = 200 * a;
	return 100 * a * a + (1 - x[0]) * (1 - x[0]);
}

static void the_valley_is_found(void **state)
{
	double lo[] = { -5, -5 }, hi[] = { 5, 5 }, x[] = { -1.2, 1 };
	int count = 0;
	struct stats_minimize m = { valley, &count, lo, hi, 2, 500, 0, 0 };

	assert_true(stats_minimize(&m, x) < 1e-10);
	assert_true(is_within(x[0], 1, 1e-4) && is_within(x[1], 1, 1e-4));
	assert_true(count <= 500);
}

static void walls_hold(void **state)
{
	double lo[] = { -5, -5 }, hi[] = { 0.5, 5 }, x[] = { -1.2, 1 };
	int count = 0;
	struct stats_minimize m = { valley, &count, lo, hi, 2, 500, 0, 0 };

	assert_true(is_within(stats_minimize(&m, x), 0.25, 1e-6));
	assert_true(is_within(x[0], 0.5, 1e-9) && is_within(x[1], 0.25, 1e-4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(factors_multiply_back),
		cmocka_unit_test(inverses_undo),
		cmocka_unit_test(not_positive_is_refused),
		cmocka_unit_test(the_valley_is_found),
		cmocka_unit_test(walls_hold),
	};

	return RUN_TESTS(tests);
}
