/*
 * hodges-lehmann: location and shift by ranks, with intervals that need no normal data.
 *
 * One sample: the median of all averages of two values (Walsh averages), the value that a Wilcoxon signed-rank test
 * accepts most readily; its breakdown point is 29 %. For pairs pass the differences. Two samples: the median of all
 * differences b[j] - a[i], the shift of a Mann-Whitney test. The intervals invert these tests, exact for small
 * samples and interpolated between adjacent ranks, so that the level is met and not exceeded; if the sample is too
 * small for it (one sample: fewer than 6 for 95 %) they are open. See ranks.h for the distributions.
 *
 * All functions sort their arrays in place. O(n log n) time, no allocation.
 */
#ifndef SONDE_STATS_HODGES_LEHMANN_H
#define SONDE_STATS_HODGES_LEHMANN_H

#include "stats/interval.h"

double stats_hl(double *x, size_t n);
/* Weights each average by the product of its values' weights, which are above 0; only proportions matter. */
double stats_hl_weighted(double *x, double *weight, size_t n);
double stats_hl_shift(double *a, size_t na, double *b, size_t nb);

struct stats_interval stats_hl_interval(double *x, size_t n, double level);
/* The width of the interval that excludes `cut` averages at each side (ranks.h); x must be sorted. */
double stats_hl_width(const double *x, size_t n, double cut);
struct stats_interval stats_hl_shift_interval(double *a, size_t na, double *b, size_t nb, double level);

/* One minus the level at which stats_hl_interval just reaches the value; at least the minimum for the sample size. */
double stats_hl_p(double *x, size_t n, double value);

#endif
