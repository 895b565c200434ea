/*
 * order: sorting in place and finding by rank, without allocation.
 *
 * Any input is fine: NaN come last, infinities are ordinary, ties are free. The
 * order is by value, so -0 and 0 are equal.
 */
#ifndef SONDE_STATS_SORTING_H
#define SONDE_STATS_SORTING_H

#include <stdbool.h>
#include <stddef.h>

void stats_sort(double *x, size_t n);
/* Sort by key, `with` goes along. */
void stats_sort_with(double *key, double *with, size_t n);
bool stats_has_nan(const double *x, size_t n);
/* Take NaN out, the rest keeps its order; returns how many are left. */
size_t stats_drop_nan(double *x, size_t n);

/*
 * The smallest value v in [lo, hi] for which reach(context, v) is true, by
 * halving the doubles between them: at most 64 calls, and the answer is exact.
 * reach must not turn false again as v grows and is taken to be true at hi.
 */
double stats_first_value(double lo, double hi, bool (*reach)(const void *context, double v), const void *context);

#endif
