/*
 * matrix: the little linear algebra that a Gaussian process needs.
 *
 * Matrices are n rows of n doubles, row after row. Only the lower triangle of a
 * symmetric matrix is read, and only it is written unless said otherwise. Meant
 * for n up to a few hundred (doc/adr/0008-own-cholesky.md).
 */
#ifndef SONDE_STATS_MATRIX_H
#define SONDE_STATS_MATRIX_H

#include <stdbool.h>
#include <stddef.h>

double stats_dot(const double *a, const double *b, size_t n);
void stats_axpy(double *y, double by, const double *x, size_t n); /* y += by * x */

/* a becomes L with L L' = a; false when a is not positive definite, and a is spoilt. */
bool stats_cholesky(double *a, size_t n);
/* x = L^-1 b and x = L'^-1 b; x and b may be the same. */
void stats_forward(const double *l, size_t n, const double *b, double *x);
void stats_backward(const double *l, size_t n, const double *b, double *x);
/* The inverse of L L', both triangles; scratch is n x n as well. */
void stats_cholesky_inverse(const double *l, size_t n, double *scratch, double *inverse);
double stats_cholesky_log_det(const double *l, size_t n); /* of L L' */

#endif
