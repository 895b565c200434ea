/*
 * verdict: what an interval means for someone who must decide, and what it would
 * take to decide.
 *
 * The margin is the change that matters, as a ratio above 1 (1.01: 1 %), and
 * applies on the scale of logarithms: 1 % slower and 1/1.01 faster are the same
 * size. Two-sided intervals of level 1 - alpha make faster and slower wrong in at
 * most alpha/2 each, and equivalence, which is two one-sided tests, in at most
 * alpha/2.
 */
#ifndef SONDE_STATS_VERDICT_H
#define SONDE_STATS_VERDICT_H

#include "stats/interval.h"

enum stats_verdict {
	STATS_INCONCLUSIVE, /* the interval reaches over a margin */
	STATS_FASTER,       /* it lies below -ln(margin) altogether */
	STATS_SLOWER,       /* above ln(margin) */
	STATS_EQUIVALENT,   /* between both */
};

enum stats_verdict stats_verdict(const struct stats_interval *log_ratio, double margin);
const char *stats_verdict_name(enum stats_verdict v); /* "faster", ... */
/* -1 or 1 when the interval excludes no change at all, however small the change; else 0. */
int stats_direction(const struct stats_interval *log_ratio);

/*
 * Power of Student's two-sided test of n observations whose standard deviation is
 * sd: the chance that its interval of `level` excludes 0 when the mean is `effect`
 * (exact, by the noncentral t distribution), and the chance that it lies within
 * +-margin when the mean is 0. NaN for n < 2 or sd < 0.
 */
double stats_power(size_t n, double sd, double effect, double level);
double stats_equivalence_power(size_t n, double sd, double margin, double level);
/* The smallest effect that n observations find with `power`. */
double stats_detectable_effect(size_t n, double sd, double level, double power);
/* The smallest n (at least 2) with that power; 0 when n_max is not enough. */
size_t stats_required_n(double sd, double effect, double level, double power, size_t n_max);
size_t stats_required_n_equivalent(double sd, double margin, double level, double power, size_t n_max);

#endif
