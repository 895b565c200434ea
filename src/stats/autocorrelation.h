/*
 * autocorrelation: how much of a series is news.
 *
 * Neighbouring iterations resemble each other (caches, frequency, neighbours), so
 * n of them say less than n independent ones. Fewer than 4 values, or values that
 * are all the same, show no correlation; NaN among them gives NaN (a length: 1).
 */
#ifndef SONDE_STATS_AUTOCORRELATION_H
#define SONDE_STATS_AUTOCORRELATION_H

#include <stddef.h>

/* Correlation of the series with itself `lag` later, -1 .. 1; 0 where there is none to see. */
double stats_autocorrelation(const double *x, size_t n, size_t lag);
/* As many independent values would give the mean the same variance; 1 .. n. */
double stats_effective_n(const double *x, size_t n);
/* Values a block should have for a circular block bootstrap of the mean; 1 .. n/3, at least 1. */
size_t stats_block_length(const double *x, size_t n);

#endif
