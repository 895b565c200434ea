/*
 * sorting: sorting in place and selection by rank, without allocation.
 *
 * All inputs are valid: NaN are sorted last, infinities are ordinary values, ties cost nothing. The order is by
 * value, so -0 and 0 are equal.
 */
#ifndef SONDE_STATS_SORTING_H
#define SONDE_STATS_SORTING_H

#include <stdbool.h>
#include <stddef.h>

void stats_sort(double *x, size_t n);
/* Sorts by key and permutes `with` accordingly. */
void stats_sort_with(double *key, double *with, size_t n);
bool stats_has_nan(const double *x, size_t n);
/* Removes NaN, preserves the order; returns the number of values left. */
size_t stats_drop_nan(double *x, size_t n);

/*
 * Returns the smallest value v in [lo, hi] for which reach(context, v) is true, by bisecting the doubles between
 * them: at most 64 calls, and the result is exact. reach must be monotonic in v and is assumed to be true at hi.
 */
double stats_first_value(double lo, double hi, bool (*reach)(const void *context, double v), const void *context);

#endif
