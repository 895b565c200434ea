/*
 * summary: descriptive statistics of a sample, and sorting in place.
 *
 * Moments are streaming and mergeable. The others need an array: functions named `sorted` require it sorted
 * (stats_sort), the rest sort it in place. A NaN among the values, or no values, gives NaN; remove absent values
 * first (stats_drop_nan). An infinite value makes the mean and everything derived from it NaN.
 *
 * Sorting accepts any input without allocation: NaN are sorted last, infinities are ordinary values, ties cost nothing.
 * The order is by value, so -0 and 0 are equal.
 */
#ifndef SONDE_STATS_SUMMARY_H
#define SONDE_STATS_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct stats_moments {
	uint64_t n;
	double mean, min, max; /* NaN while n = 0 */
	/* private */
	double m2; /* sum of squared distances from the mean */
};

void stats_moments_init(struct stats_moments *m);
void stats_moments_add(struct stats_moments *m, double x);
void stats_moments_merge(struct stats_moments *m, const struct stats_moments *other);
struct stats_moments stats_moments_of(const double *x, size_t n);
double stats_variance(const struct stats_moments *m); /* divided by n - 1; NaN for fewer than two */
double stats_sd(const struct stats_moments *m);
double stats_standard_error(const struct stats_moments *m);

double stats_sorted_quantile(const double *sorted, size_t n, double p); /* type 7; p is clamped to 0..1 */
double stats_quantile(double *x, size_t n, double p);
double stats_median(double *x, size_t n);
/* sum(weight * x) / sum(weight); weight NULL: equal weights; NaN if no weight is above 0. */
double stats_weighted_mean(const double *x, const double *weight, size_t n);

enum { STATS_QN_MAX = 64 };

/* For 2 .. STATS_QN_MAX values; NaN for fewer, more, or if one is not finite. */
double stats_qn(const double *x, size_t n);

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
