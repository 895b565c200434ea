/*
 * holm: several comparisons at once, with one chance of crying wolf for all.
 */
#ifndef SONDE_STATS_HOLM_H
#define SONDE_STATS_HOLM_H

#include <stddef.h>

/*
 * p values adjusted so that rejecting those at most alpha is wrong about any of
 * them in at most alpha of cases, whatever their dependence. NaN (no test) stays
 * NaN and is not counted. scratch holds n values. adjusted may be p itself.
 */
void stats_holm(const double *p, size_t n, double *adjusted, double *scratch);

#endif
