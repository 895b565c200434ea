/*
 * matrix: the linear algebra for Gaussian processes.
 *
 * Matrices are n rows of n doubles, row-major. Only the lower triangle of a symmetric matrix is read, and written
 * unless documented otherwise. Intended for n up to a few hundred (doc/adr/0008-own-cholesky.md).
 */
#ifndef SONDE_STATS_MATRIX_H
#define SONDE_STATS_MATRIX_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * Loops that benefit from wide registers are compiled for them too, and the loader selects (ifunc). No fused
 * multiply-add: results are bit-identical on both.
 */
#if defined(__x86_64__) && !defined(__clang__)
#define STATS_WIDE __attribute__((target_clones("default", "avx2")))
#else
#define STATS_WIDE
#endif

typedef double stats_four __attribute__((vector_size(32), aligned(8)));

/* Four products at a time; the compiler may not do that itself, since the sums would round differently. */
static inline double stats_dot(const double *a, const double *b, size_t n)
{
	stats_four sum = { 0 }, more = { 0 };
	size_t i = 0;

	for (; i + 8 <= n; i += 8) {
		stats_four x0, y0, x1, y1;

		memcpy(&x0, a + i, sizeof(x0));
		memcpy(&y0, b + i, sizeof(y0));
		memcpy(&x1, a + i + 4, sizeof(x1));
		memcpy(&y1, b + i + 4, sizeof(y1));
		sum += x0 * y0;
		more += x1 * y1;
	}
	sum += more;
	double total = (sum[0] + sum[1]) + (sum[2] + sum[3]);

	for (; i < n; i++)
		total += a[i] * b[i];
	return total;
}

/* y += by * x */
static inline void stats_axpy(double *y, double by, const double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		y[i] += by * x[i];
}

/* Replaces a by L with L L' = a; returns false if a is not positive definite, and then a is destroyed. */
bool stats_cholesky(double *a, size_t n);
/* x = L^-1 b and x = L'^-1 b; x and b may be the same. */
void stats_forward(const double *l, size_t n, const double *b, double *x);
void stats_backward(const double *l, size_t n, const double *b, double *x);
/* The inverse of L L', both triangles; scratch is n x n as well. */
void stats_cholesky_inverse(const double *l, size_t n, double *scratch, double *inverse);
double stats_cholesky_log_det(const double *l, size_t n); /* of L L' */

#endif
