/*
 * sequence: the confidence sequence of sequential.h.
 *
 * Wang and Ramdas, "Anytime-valid t-tests and confidence sequences for Gaussian
 * means with unknown variance" (arXiv 2310.03722, 2023), after Lai, "On
 * confidence sequences" (Annals of Statistics 4(2), 1976): with the improper prior
 * 1/sigma and mean/sigma ~ N(0, 1/c) the mixture likelihood ratio of x - mu,
 *
 *	sqrt(c / (n + c)) ((n + c) V / ((n + c) V - S^2))^(n/2),   S = sum, V = sum of squares,
 *
 * is a martingale that starts at 1, so that with probability 1 - alpha it never
 * reaches 1 / alpha (Ville); solved for mu that is an interval around the mean.
 */
#include "stats/sequential.h"

#include <math.h>

enum { TUNED_DEFAULT = 12 };

/* Half the interval in units of the (biased) standard deviation; infinite if unbounded. */
static double half_width(double n, double c, double alpha)
{
	double share = -expm1(-(log1p(n / c) - 2 * log(alpha)) / n), q = (n + c) * share;

	return q < n ? sqrt(q / (n - q)) : INFINITY;
}

/* Returns the c for which the interval is narrowest at n, by golden section search on its logarithm. */
static double best_c(double n, double alpha)
{
	const double golden = (sqrt(5) - 1) / 2;
	double lo = log(1e-12), hi = log(n);

	for (int i = 0; i < 60; i++) {
		double left = hi - golden * (hi - lo), right = lo + golden * (hi - lo);

		if (half_width(n, exp(left), alpha) <= half_width(n, exp(right), alpha))
			hi = right;
		else
			lo = left;
	}
	return exp((lo + hi) / 2);
}

struct stats_interval stats_sequence_interval(const struct stats_moments *m, double level, size_t n_tuned)
{
	struct stats_interval out = stats_interval_open(m->mean, m->n, level, "t-mixture confidence sequence");
	double n = (double)m->n, sd = sqrt(stats_variance(m) * (n - 1) / n), half;

	if (isnan(out.estimate) || isnan(sd))
		return out;
	half = half_width(n, best_c((double)(n_tuned ? n_tuned : TUNED_DEFAULT), 1 - level), 1 - level);
	half = sd == 0 && isfinite(half) ? 0 : half * sd;
	if (isnan(half))
		return out;
	out.lo = m->mean - half;
	out.hi = m->mean + half;
	out.df = n - 1;
	return out;
}
