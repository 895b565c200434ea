/*
 * sign: the median with the interval of the sign test (Thompson, "On confidence ranges for the median", 1936).
 *
 * Of values that are mostly close together and now and then far off to either side, half of them at most, it is many
 * times narrower than what ranks give (hodges-lehmann.h): averages of a near and a far value mean nothing, and there
 * are none here. Of well-behaved ones it is a quarter wider.
 */
#ifndef SONDE_STATS_SIGN_H
#define SONDE_STATS_SIGN_H

#include "stats/interval.h"

/* Sorts x, which has no NaN. Open when so few values cannot reach the level: below 6 for 95 %. */
struct stats_interval stats_median_interval(double *x, size_t n, double level);
/* Of "the median is m", two-sided; values equal to m are left out. NaN: none is left. */
double stats_sign_p(const double *x, size_t n, double m);

#endif
