/*
 * autocorrelation: serial correlation and effective sample size of a series.
 *
 * Adjacent iterations are similar (caches, frequency, neighbours), so n of them carry less information than n
 * independent ones. Fewer than 4 values, or constant values, show no correlation; NaN among them gives NaN (a length:
 * 1).
 */
#ifndef SONDE_STATS_AUTOCORRELATION_H
#define SONDE_STATS_AUTOCORRELATION_H

#include <stddef.h>

/* Correlation of the series with itself at distance `lag`, -1 .. 1; 0 if undefined. */
double stats_autocorrelation(const double *x, size_t n, size_t lag);
/* The number of independent values for which the mean has the same variance; 1 .. n. */
double stats_effective_n(const double *x, size_t n);
/* Block length for a circular block bootstrap of the mean; 1 .. n/3, at least 1. */
size_t stats_block_length(const double *x, size_t n);

#endif
