/*
 * Procedures that duet does not use, to compare with: the bootstraps of run means, and a confidence sequence.
 *
 * BCa: Efron, "Better bootstrap confidence intervals" (JASA 82(397), 1987). Confidence sequence: Wang and Ramdas,
 * "Anytime-valid t-tests and confidence sequences for Gaussian means with unknown variance" (arXiv 2310.03722, 2023),
 * after Lai, "On confidence sequences" (Annals of Statistics 4(2), 1976): with the improper prior 1/sigma and
 * mean/sigma ~ N(0, 1/c) the mixture likelihood ratio of x - mu,
 *
 *	sqrt(c / (n + c)) ((n + c) V / ((n + c) V - S^2))^(n/2),   S = sum, V = sum of squares,
 *
 * is a martingale that starts at 1, so that with probability 1 - alpha it never reaches 1 / alpha (Ville); solved for
 * mu that is an interval around the mean, at every n simultaneously.
 */
#include "duet-others.h"

#include "stats/dist.h"
#include "stats/rng.h"

#include <math.h>
#include <string.h>

enum { N_MAX = 200, DRAWS = 999 }; /* (DRAWS + 1) * tail is an integer: more draws do not change the coverage */

/* Draws n values with replacement, DRAWS times; a draw is the mean, or Student's t of it if that is wanted. */
static void draw_means(const double *x, size_t n, uint64_t seed, bool is_studentised, double draws[DRAWS])
{
	double mean = stats_weighted_mean(x, NULL, n), sample[N_MAX];
	struct stats_rng rng;

	stats_rng_init(&rng, seed, 0);
	for (size_t i = 0; i < DRAWS; i++) {
		struct stats_moments m;

		for (size_t k = 0; k < n; k++)
			sample[k] = x[stats_rng_below(&rng, n)];
		m = stats_moments_of(sample, n);
		draws[i] = is_studentised ? (m.mean - mean) / stats_standard_error(&m) : m.mean;
	}
	stats_sort(draws, stats_drop_nan(draws, DRAWS));
}

struct stats_interval studentised_mean(const double *x, size_t n, double level, uint64_t seed)
{
	struct stats_moments m = stats_moments_of(x, n);
	struct stats_interval out = stats_interval_open(m.mean, n, level, "studentised bootstrap");
	double draws[DRAWS], tail = (1 - level) / 2 * (DRAWS + 1);

	draw_means(x, n, seed, true, draws);
	out.lo = m.mean - draws[DRAWS - (size_t)tail] * stats_standard_error(&m);
	out.hi = m.mean - draws[(size_t)tail - 1] * stats_standard_error(&m);
	return out;
}

/* Acceleration: how the spread of the mean changes with it, by the jackknife. */
static double acceleration(const double *x, size_t n, double mean)
{
	double cubes = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		double d = (x[i] - mean) / ((double)n - 1);

		squares += d * d;
		cubes += d * d * d;
	}
	return squares > 0 ? cubes / (6 * pow(squares, 1.5)) : 0;
}

struct stats_interval bca_mean(const double *x, size_t n, double level, uint64_t seed)
{
	double mean = stats_weighted_mean(x, NULL, n), a = acceleration(x, n, mean), draws[DRAWS], below = 0, z0;
	struct stats_interval out = stats_interval_open(mean, n, level, "BCa bootstrap");

	draw_means(x, n, seed, false, draws);
	while (below < DRAWS && draws[(size_t)below] < mean)
		below++;
	z0 = stats_normal_quantile(
			fmin(fmax(below, 0.5), DRAWS - 0.5) / DRAWS); /* bias: where the mean is among them */
	for (int side = 0; side < 2; side++) {
		double z = z0 + stats_normal_quantile(side ? (1 + level) / 2 : (1 - level) / 2);
		double k = stats_normal_cdf(z0 + z / fmax(1 - a * z, 0)) * (DRAWS + 1);

		if (side)
			out.hi = ceil(k) <= DRAWS ? draws[(size_t)ceil(k) - 1] : INFINITY;
		else
			out.lo = floor(k) >= 1 ? draws[(size_t)floor(k) - 1] : -INFINITY;
	}
	return out;
}

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

struct stats_interval sequence_interval(const struct stats_moments *m, double level, size_t n_tuned)
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
