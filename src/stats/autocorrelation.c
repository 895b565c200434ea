/*
 * Effective sample size by the initial monotone positive sequence of Geyer, "Practical Markov chain Monte Carlo"
 * (Statistical Science 7(4), 1992). Block length by Politis and White, "Automatic block-length selection for the
 * dependent bootstrap" (Econometric Reviews 23(1), 2004), corrected by Patton, Politis and White (28(4), 2009).
 */
#include "stats/autocorrelation.h"

#include "stats/sorting.h"
#include "stats/summary.h"

#include <math.h>

enum { N_MIN = 4 };

static double covariance(const double *x, size_t n, double mean, size_t lag)
{
	double sum = 0;

	for (size_t i = 0; i + lag < n; i++)
		sum += (x[i] - mean) * (x[i + lag] - mean);
	return sum / (double)n;
}

/* Do the values differ at all? */
static int has_spread(const double *x, size_t n, struct stats_moments *m)
{
	*m = stats_moments_of(x, n);
	return n >= N_MIN && stats_variance(m) > 0 && isfinite(m->mean);
}

double stats_autocorrelation(const double *x, size_t n, size_t lag)
{
	struct stats_moments m;

	if (stats_has_nan(x, n))
		return NAN;
	if (lag == 0)
		return 1;
	if (!has_spread(x, n, &m) || lag >= n)
		return 0;
	return covariance(x, n, m.mean, lag) / covariance(x, n, m.mean, 0);
}

/* Sums of two adjacent correlations are positive and decreasing; where that ends, noise begins. */
double stats_effective_n(const double *x, size_t n)
{
	double c0, time = -1, last = INFINITY;
	struct stats_moments m;

	if (stats_has_nan(x, n))
		return NAN;
	if (!has_spread(x, n, &m))
		return (double)n;
	c0 = covariance(x, n, m.mean, 0);
	for (size_t lag = 0; lag + 1 < n; lag += 2) {
		double sum = (covariance(x, n, m.mean, lag) + covariance(x, n, m.mean, lag + 1)) / c0;

		if (!(sum > 0))
			break;
		last = fmin(last, sum);
		time += 2 * last;
	}
	return fmin(fmax((double)n / fmax(time, 1e-300), 1), (double)n);
}

/* Returns the lag after which a sequence of correlations is indistinguishable from zero. */
static size_t last_lag(const double *x, size_t n, double mean, size_t row, size_t max)
{
	double limit = 2 * sqrt(log10((double)n) / (double)n) * covariance(x, n, mean, 0);
	size_t quiet = 0;

	for (size_t lag = 1; lag <= max; lag++) {
		quiet = fabs(covariance(x, n, mean, lag)) < limit ? quiet + 1 : 0;
		if (quiet >= row)
			return lag - quiet;
	}
	return max;
}

/* Flat up to 0.5, then falling to 0 at 1. */
static double taper(double share)
{
	return share <= 0.5 ? 1 : 2 * (1 - share);
}

static double optimal_length(const double *x, size_t n, double mean, size_t width)
{
	double g = 0, spectrum = covariance(x, n, mean, 0);

	for (size_t lag = 1; lag <= width; lag++) {
		double c = 2 * taper((double)lag / (double)width) * covariance(x, n, mean, lag);

		g += c * (double)lag;
		spectrum += c;
	}
	if (!(spectrum > 0))
		return 1;
	return cbrt(2 * g * g / (4.0 / 3 * spectrum * spectrum) * (double)n);
}

size_t stats_block_length(const double *x, size_t n)
{
	struct stats_moments m;
	size_t row, max, width;
	double length;

	if (stats_has_nan(x, n) || !has_spread(x, n, &m))
		return 1;
	row = (size_t)fmax(5, sqrt(log10((double)n)));
	max = (size_t)ceil(sqrt((double)n)) + row;
	width = 2 * last_lag(x, n, m.mean, row, max < n ? max : n - 1);
	if (width > n - 1)
		width = n - 1;
	length = optimal_length(x, n, m.mean, width);
	return (size_t)fmax(1, fmin(round(length), floor((double)n / 3)));
}
