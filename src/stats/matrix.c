/* All inner loops run along rows, for stats_dot. */
#include "stats/matrix.h"

#include <math.h>
#include <string.h>

STATS_WIDE bool stats_cholesky(double *a, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double *row = a + i * n;

		for (size_t j = 0; j < i; j++)
			row[j] = (row[j] - stats_dot(row, a + j * n, j)) / a[j * n + j];
		double pivot = row[i] - stats_dot(row, row, i);

		if (!(pivot > 0) || isinf(pivot))
			return false;
		row[i] = sqrt(pivot);
	}
	return true;
}

STATS_WIDE void stats_forward(const double *l, size_t n, const double *b, double *x)
{
	for (size_t i = 0; i < n; i++)
		x[i] = (b[i] - stats_dot(l + i * n, x, i)) / l[i * n + i];
}

STATS_WIDE void stats_backward(const double *l, size_t n, const double *b, double *x)
{
	if (x != b)
		memmove(x, b, n * sizeof(*x));
	for (size_t i = n; i-- > 0;) {
		x[i] /= l[i * n + i];
		stats_axpy(x, -x[i], l + i * n, i);
	}
}

/* Row j of `t` becomes column j of L^-1, from its diagonal on: t is the transposed inverse. */
STATS_WIDE static void transposed_inverse(const double *l, size_t n, double *t)
{
	for (size_t j = 0; j < n; j++) {
		double *column = t + j * n;

		column[j] = 1 / l[j * n + j];
		for (size_t i = j + 1; i < n; i++)
			column[i] = -stats_dot(l + i * n + j, column + j, i - j) / l[i * n + i];
	}
}

STATS_WIDE void stats_cholesky_inverse(const double *l, size_t n, double *scratch, double *inverse)
{
	transposed_inverse(l, n, scratch);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j <= i; j++) {
			double sum = stats_dot(scratch + i * n + i, scratch + j * n + i, n - i);

			inverse[i * n + j] = sum;
			inverse[j * n + i] = sum;
		}
}

double stats_cholesky_log_det(const double *l, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += log(l[i * n + i]);
	return 2 * sum;
}
