/*
 * ranks: the distributions of Wilcoxon's signed-rank statistic W (the sum of the positive values' ranks among n) and
 * of Mann and Whitney's U, under "no effect".
 *
 * A `cut` is how many of the ordered averages or differences a rank interval excludes at each end for a given tail
 * probability: an integer, plus the fraction of the next one that the rest of the tail allows. Below 1 the sample is
 * too small for the tail. Assumes no ties; with ties slightly conservative.
 */
#ifndef SONDE_STATS_RANKS_H
#define SONDE_STATS_RANKS_H

#include <stddef.h>

enum {
	STATS_SIGNED_RANK_EXACT = 50,  /* maximum sample size for the exact distribution, else normal */
	STATS_MANN_WHITNEY_EXACT = 50, /* the same for the sum of both sample sizes */
};

double stats_signed_rank_cdf(double w, size_t n); /* P(W <= w) */
double stats_signed_rank_cut(size_t n, double tail);
/* The tail of a cut; that of 1 for smaller cuts, the minimum possible. */
double stats_signed_rank_tail(size_t n, double cut);

double stats_mann_whitney_cdf(double u, size_t na, size_t nb); /* P(U <= u) */
double stats_mann_whitney_cut(size_t na, size_t nb, double tail);

#endif
