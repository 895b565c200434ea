/*
 * dist: distribution functions and their inverses.
 *
 * Relative accuracy is better than 1e-10, in the tails too: `upper` functions
 * give 1 - cdf without the loss, and a quantile far out is asked for by its small
 * probability (the t and normal ones are symmetric: -quantile(q) is the upper).
 * Parameters outside their range (df <= 0, p outside 0..1, NaN) give NaN. df may
 * be fractional or infinite.
 */
#ifndef SONDE_STATS_DIST_H
#define SONDE_STATS_DIST_H

#include <stddef.h>

double stats_normal_density(double z);
double stats_normal_cdf(double z);
double stats_normal_quantile(double p);

double stats_t_cdf(double t, double df);
double stats_t_quantile(double p, double df);

double stats_chi2_cdf(double x, double df);
double stats_chi2_upper(double x, double df);
double stats_chi2_quantile(double p, double df);

double stats_beta_cdf(double x, double a, double b); /* the regularised incomplete beta function */
double stats_beta_quantile(double p, double a, double b);

/* Clopper and Pearson's exact interval for the share of which `hits` of n were seen. */
void stats_binomial_interval(size_t hits, size_t n, double level, double *lo, double *hi);

#endif
