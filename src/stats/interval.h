/*
 * interval: an estimate, its confidence interval, and the method.
 *
 * Every interval in stats/ is a struct stats_interval. If the data cannot bound the value (one observation, too few
 * ranks), lo and hi are infinite; without an estimate (no data, NaN among it, a level outside 0..1) the estimate is
 * NaN. So an interval can always be compared with a threshold and never overstates its certainty. Data without spread
 * gives lo = hi.
 */
#ifndef SONDE_STATS_INTERVAL_H
#define SONDE_STATS_INTERVAL_H

#include "stats/summary.h"

#include <stdbool.h>
#include <stddef.h>

struct stats_interval {
	double estimate, lo, hi;
	double level;       /* confidence of lo .. hi */
	double df;          /* degrees of freedom; NaN if the method has none */
	double se;          /* standard error; NaN if the method has none */
	size_t n;           /* independent observations: runs for a comparison */
	const char *method; /* static text for display */
};

/* An open interval: the estimate only. */
struct stats_interval stats_interval_open(double estimate, size_t n, double level, const char *method);
bool stats_interval_holds(const struct stats_interval *i, double value);
/* exp of estimate, lo and hi: from the logarithm of a ratio to the ratio. */
struct stats_interval stats_interval_exp(const struct stats_interval *i);
/* estimate +- t * se with t of df degrees of freedom and two-sided `level`. */
struct stats_interval stats_interval_t(double estimate, double se, double df, size_t n, double level);

/* Student's interval for the mean. */
struct stats_interval stats_mean_interval(const double *x, size_t n, double level);
struct stats_interval stats_moments_interval(const struct stats_moments *m, double level);
/* mean(b) - mean(a) by Welch: of independent samples with different variances. */
struct stats_interval stats_welch_interval(const struct stats_moments *a, const struct stats_moments *b, double level);

/* Two-sided p of "the true value is `value`"; NaN without a standard error. */
double stats_interval_p(const struct stats_interval *i, double value);
/* ln(b / a); NaN unless both are above 0 and finite. */
double stats_log_ratio(double a, double b);

#endif
