/*
 * dist: distribution functions and their inverses.
 *
 * Relative accuracy is better than 1e-10, in the tails too: an extreme quantile is computed from its small probability
 * (t and normal are symmetric: -quantile(q) is the upper one). Parameters out of range (df <= 0, p outside 0..1, NaN)
 * give NaN. df may be fractional or infinite.
 */
#ifndef SONDE_STATS_DIST_H
#define SONDE_STATS_DIST_H

#include <stddef.h>

double stats_normal_density(double z);
double stats_normal_cdf(double z);
double stats_normal_quantile(double p);

double stats_t_cdf(double t, double df);
double stats_t_quantile(double p, double df);

double stats_chi2_quantile(double p, double df);

double stats_beta_cdf(double x, double a, double b); /* the regularised incomplete beta function */
double stats_beta_quantile(double p, double a, double b);

/* Clopper and Pearson's exact interval for a proportion with `hits` of n. */
void stats_binomial_interval(size_t hits, size_t n, double level, double *lo, double *hi);

#endif
