/*
 * summary: descriptive statistics of a sample.
 *
 * Moments are streaming and mergeable. The others need an array: functions named `sorted` require it sorted
 * (stats_sort), the rest sort it in place. A NaN among the values, or no values, gives NaN; remove absent values
 * first (stats_drop_nan). An infinite value makes the mean and everything derived from it NaN.
 */
#ifndef SONDE_STATS_SUMMARY_H
#define SONDE_STATS_SUMMARY_H

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
/* Median distance from the median, times 1.4826: the standard deviation of normal data. */
double stats_mad(double *x, size_t n);
/* The mean without the floor(share * n) smallest and largest values; share below 0.5, where it is the median. */
double stats_trimmed_mean(double *x, size_t n, double share);
/* sum(weight * x) / sum(weight); weight NULL: equal weights; NaN if no weight is above 0. */
double stats_weighted_mean(const double *x, const double *weight, size_t n);

#endif
