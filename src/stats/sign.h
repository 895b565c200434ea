/*
 * sign: the median with the interval of the sign test (Thompson, "On confidence ranges for the median", 1936).
 *
 * For values that are mostly close together and sometimes far off to either side, at most half of them, it is many
 * times narrower than rank intervals (hodges-lehmann.h), which use averages of a near and a far value. For
 * well-behaved values it is a quarter wider.
 */
#ifndef SONDE_STATS_SIGN_H
#define SONDE_STATS_SIGN_H

#include "stats/interval.h"

/* Sorts x, which must not contain NaN. Open if the values are too few for the level: below 6 for 95 %. */
struct stats_interval stats_median_interval(double *x, size_t n, double level);
/* p of "the median is m", two-sided; values equal to m are excluded. NaN if no value is left. */
double stats_sign_p(const double *x, size_t n, double m);

#endif
