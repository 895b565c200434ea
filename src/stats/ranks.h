/*
 * ranks: location by ranks and by signs, with intervals that need no normal data.
 *
 * The Hodges-Lehmann estimate is the median of all averages of two values (Walsh averages), the value that a Wilcoxon
 * signed-rank test accepts most readily; its breakdown point is 29 %. For pairs pass the differences. The interval
 * inverts the test, exact for small samples and interpolated between adjacent ranks, so that the level is met and not
 * exceeded; if the sample is too small for it (fewer than 6 for 95 %) it is open.
 *
 * The median with the interval of the sign test is many times narrower for values that are mostly close together and
 * sometimes far off to either side, at most half of them: averages of a near and a far value, which ranks use, are far
 * off too. For well-behaved values it is a quarter wider.
 *
 * All functions sort their arrays in place. O(n log n) time, no allocation.
 */
#ifndef SONDE_STATS_RANKS_H
#define SONDE_STATS_RANKS_H

#include "stats/interval.h"

#include <stddef.h>

double stats_hl(double *x, size_t n);
/* Weights each average by the product of its values' weights, which are above 0; only proportions matter. */
double stats_hl_weighted(double *x, double *weight, size_t n);

struct stats_interval stats_hl_interval(double *x, size_t n, double level);
/* The width of the interval that excludes `cut` averages at each side (ranks.h); x must be sorted. */
double stats_hl_width(const double *x, size_t n, double cut);

/* One minus the level at which stats_hl_interval just reaches the value; at least the minimum for the sample size. */
double stats_hl_p(double *x, size_t n, double value);

/* Sorts x, which must not contain NaN. Open if the values are too few for the level: below 6 for 95 %. */
struct stats_interval stats_median_interval(double *x, size_t n, double level);
/* p of "the median is m", two-sided; values equal to m are excluded. NaN if no value is left. */
double stats_sign_p(const double *x, size_t n, double m);

/*
 * Wilcoxon's signed-rank statistic W is the sum of the positive values' ranks among n. A `cut` is how many of the
 * ordered averages a rank interval excludes at each end for a given tail probability: an integer, plus the fraction of
 * the next one that the rest of the tail allows. Below 1 the sample is too small for the tail. Assumes no ties; with
 * ties slightly conservative.
 */

enum {
	STATS_SIGNED_RANK_EXACT = 50,
	STATS_RANK_SUM_EXACT = 50
}; /* maximum sample size for the exact distribution, else normal */

double stats_signed_rank_cut(size_t n, double tail);
/* The tail of a cut; that of 1 for smaller cuts, the minimum possible. */
double stats_signed_rank_tail(size_t n, double cut);

/*
 * Wilcoxon's rank-sum test: p of "two samples have the same distribution", two-sided. Exact for up to
 * STATS_RANK_SUM_EXACT values together; with ties slightly conservative. NaN without values in both. Sorts both.
 */
double stats_rank_sum_p(double *a, size_t n, double *b, size_t m);
/* The smallest p that samples of these sizes can have; 1 without values in both. */
double stats_rank_sum_p_least(size_t n, size_t m);

#endif
