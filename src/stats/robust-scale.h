/*
 * scale: how widely values are spread, when some of them are wild.
 *
 * Qn of Rousseeuw and Croux ("Alternatives to the median absolute deviation", JASA 1993): the first quartile, about, of
 * the distances between all pairs of values, made consistent with the standard deviation of normal values. Up to half
 * of the values may be anything; of normal ones it is 82 % as precise as the standard deviation.
 */
#ifndef SONDE_STATS_ROBUST_SCALE_H
#define SONDE_STATS_ROBUST_SCALE_H

#include <stddef.h>

enum { STATS_QN_MAX = 64 };

/* Of 2 .. STATS_QN_MAX values; NaN for fewer, more, or where one is not finite. */
double stats_qn(const double *x, size_t n);

#endif
