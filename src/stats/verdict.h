/*
 * verdict: the decision that an interval allows, and what a decision would require.
 *
 * The margin is the smallest relevant change, as a ratio above 1 (1.01: 1 %), and applies on a log scale: 1 % slower
 * and 1/1.01 faster are the same size. With two-sided intervals of level 1 - alpha, faster and slower are each wrong
 * with probability at most alpha/2, and so is equivalence, which is two one-sided tests.
 */
#ifndef SONDE_STATS_VERDICT_H
#define SONDE_STATS_VERDICT_H

#include "stats/interval.h"

#include <stddef.h>

enum stats_verdict {
	STATS_INCONCLUSIVE, /* the interval contains a margin */
	STATS_FASTER,       /* the interval is below -ln(margin) */
	STATS_SLOWER,       /* above ln(margin) */
	STATS_EQUIVALENT,   /* between both */
};

enum stats_verdict stats_verdict(const struct stats_interval *log_ratio, double margin);
const char *stats_verdict_name(enum stats_verdict v); /* "faster", ... */
/* -1 or 1 if the interval excludes 0, however small the change; else 0. */
int stats_direction(const struct stats_interval *log_ratio);

/*
 * Power of Student's two-sided test with n observations of standard deviation sd: the probability that its interval
 * of `level` excludes 0 if the mean is `effect` (exact, by the noncentral t distribution), and the probability that
 * it lies within +-margin if the mean is 0. NaN for n < 2 or sd < 0.
 */
double stats_power(size_t n, double sd, double effect, double level);
double stats_equivalence_power(size_t n, double sd, double margin, double level);
/* The smallest effect that n observations detect with `power`. */
double stats_detectable_effect(size_t n, double sd, double level, double power);
/* The smallest n (at least 2) with that power; 0 if n_max is not enough. */
size_t stats_required_n(double sd, double effect, double level, double power, size_t n_max);
size_t stats_required_n_equivalent(double sd, double margin, double level, double power, size_t n_max);

/*
 * Adjusts p values so that rejecting those at most alpha is wrong about any of them with probability at most alpha,
 * whatever their dependence. NaN (no test) stays NaN and is not counted. scratch holds n values. adjusted may be p.
 */
void stats_holm(const double *p, size_t n, double *adjusted, double *scratch);

#endif
