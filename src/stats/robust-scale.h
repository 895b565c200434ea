/*
 * robust-scale: the spread of values in the presence of outliers.
 *
 * Qn of Rousseeuw and Croux ("Alternatives to the median absolute deviation", JASA 1993): about the first quartile of
 * the distances between all pairs of values, scaled to the standard deviation of normal values. Up to half of the
 * values may be outliers; its efficiency for normal values is 82 %.
 */
#ifndef SONDE_STATS_ROBUST_SCALE_H
#define SONDE_STATS_ROBUST_SCALE_H

#include <stddef.h>

enum { STATS_QN_MAX = 64 };

/* For 2 .. STATS_QN_MAX values; NaN for fewer, more, or if one is not finite. */
double stats_qn(const double *x, size_t n);

#endif
