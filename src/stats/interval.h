/*
 * interval: an estimate, the interval around it, and what it rests on.
 *
 * Every interval in stats/ is a struct stats_interval. Where the data cannot
 * bound the value (one observation, too few ranks) lo and hi are infinite; where
 * there is no estimate either (no data, NaN among it, a level outside 0..1) the
 * estimate is NaN. So an interval can always be compared with a threshold, and
 * never claims more than it knows. Data without any spread gives lo = hi.
 */
#ifndef SONDE_STATS_INTERVAL_H
#define SONDE_STATS_INTERVAL_H

#include "stats/summary.h"

#include <stdbool.h>
#include <stddef.h>

struct stats_interval {
	double estimate, lo, hi;
	double level;       /* confidence of lo .. hi */
	double df;          /* degrees of freedom; NaN where the method has none */
	double se;          /* standard error; NaN where the method has none */
	size_t n;           /* observations: the independent ones, runs for a comparison */
	const char *method; /* static words for the reader */
};

/* Everything open: the estimate alone. */
struct stats_interval stats_interval_open(double estimate, size_t n, double level, const char *method);
bool stats_interval_holds(const struct stats_interval *i, double value);
/* exp of estimate, lo and hi: from the logarithm of a ratio to the ratio. */
struct stats_interval stats_interval_exp(const struct stats_interval *i);
/* estimate +- t * se with t of df degrees of freedom and two-sided `level`. */
struct stats_interval stats_interval_t(double estimate, double se, double df, size_t n, double level);

/* Student's interval for the mean. */
struct stats_interval stats_mean_interval(const double *x, size_t n, double level);
struct stats_interval stats_moments_interval(const struct stats_moments *m, double level);
/* mean(b) - mean(a): of pairs, and Welch's for independent samples with variances of their own. */
struct stats_interval stats_paired_interval(const double *a, const double *b, size_t n, double level);
struct stats_interval stats_welch_interval(const struct stats_moments *a, const struct stats_moments *b, double level);
/* Geometric mean of b[i] / a[i], a ratio; all values must be above 0. */
struct stats_interval stats_ratio_interval(const double *a, const double *b, size_t n, double level);

/* Two-sided p of "the estimate's true value is `value`"; NaN where there is no standard error. */
double stats_interval_p(const struct stats_interval *i, double value);
/* ln(b / a); NaN unless both are above 0 and finite. */
double stats_log_ratio(double a, double b);

#endif
