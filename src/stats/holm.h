/* holm: adjustment of p values for multiple comparisons. */
#ifndef SONDE_STATS_HOLM_H
#define SONDE_STATS_HOLM_H

#include <stddef.h>

/*
 * Adjusts p values so that rejecting those at most alpha is wrong about any of them with probability at most alpha,
 * whatever their dependence. NaN (no test) stays NaN and is not counted. scratch holds n values. adjusted may be p.
 */
void stats_holm(const double *p, size_t n, double *adjusted, double *scratch);

#endif
