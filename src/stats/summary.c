/*
 * Streaming moments by Welford (Technometrics 4(3), 1962), merged by Chan, Golub and LeVeque (The American
 * Statistician 37(3), 1983); quantiles of type 7 of Hyndman and Fan (The American Statistician 50(4), 1996).
 */
#include "stats/summary.h"

#include "stats/sorting.h"

#include <math.h>

void stats_moments_init(struct stats_moments *m)
{
	*m = (struct stats_moments){ .mean = NAN, .min = NAN, .max = NAN };
}

void stats_moments_add(struct stats_moments *m, double x)
{
	const struct stats_moments one = { .n = 1, .mean = x, .min = x, .max = x };

	stats_moments_merge(m, &one);
}

/* A NaN on either side is kept: absent is not the same as small. */
static double keep_nan(double a, double b, double chosen)
{
	return isnan(a) || isnan(b) ? NAN : chosen;
}

void stats_moments_merge(struct stats_moments *m, const struct stats_moments *other)
{
	double share, distance;

	if (!other->n)
		return;
	if (!m->n) {
		*m = *other;
		return;
	}
	share = (double)other->n / (double)(m->n + other->n);
	distance = other->mean - m->mean;
	m->m2 += other->m2 + distance * (distance * share * (double)m->n);
	m->mean += distance * share;
	m->n += other->n;
	m->min = keep_nan(m->min, other->min, fmin(m->min, other->min));
	m->max = keep_nan(m->max, other->max, fmax(m->max, other->max));
}

struct stats_moments stats_moments_of(const double *x, size_t n)
{
	struct stats_moments m;

	stats_moments_init(&m);
	for (size_t i = 0; i < n; i++)
		stats_moments_add(&m, x[i]);
	return m;
}

double stats_variance(const struct stats_moments *m)
{
	if (m->n < 2)
		return NAN;
	return m->min == m->max ? 0 : m->m2 / (double)(m->n - 1);
}

double stats_sd(const struct stats_moments *m)
{
	return sqrt(stats_variance(m));
}

double stats_standard_error(const struct stats_moments *m)
{
	return sqrt(stats_variance(m) / (double)m->n);
}

double stats_sorted_quantile(const double *sorted, size_t n, double p)
{
	double place, part;
	size_t below;

	if (!n || isnan(p) || isnan(sorted[n - 1]))
		return NAN;
	place = fmin(fmax(p, 0), 1) * (double)(n - 1);
	below = (size_t)place;
	if (below >= n - 1)
		return sorted[n - 1];
	part = place - (double)below;
	if (part == 0 || sorted[below] == sorted[below + 1])
		return sorted[below];
	return sorted[below] * (1 - part) + sorted[below + 1] * part;
}

double stats_quantile(double *x, size_t n, double p)
{
	stats_sort(x, n);
	return stats_sorted_quantile(x, n, p);
}

double stats_median(double *x, size_t n)
{
	return stats_quantile(x, n, 0.5);
}

double stats_mad(double *x, size_t n)
{
	const double to_sd = 1.482602218505602;
	double median = stats_median(x, n);

	for (size_t i = 0; i < n; i++)
		x[i] = x[i] == median ? 0 : fabs(x[i] - median);
	return to_sd * stats_median(x, n);
}

double stats_trimmed_mean(double *x, size_t n, double share)
{
	size_t cut;

	stats_sort(x, n);
	if (!n || isnan(share) || isnan(x[n - 1]))
		return NAN;
	cut = (size_t)(fmin(fmax(share, 0), 0.5) * (double)n);
	if (2 * cut >= n)
		return stats_sorted_quantile(x, n, 0.5);
	return stats_weighted_mean(x + cut, NULL, n - 2 * cut);
}

/* As a running mean, which does not overflow. */
double stats_weighted_mean(const double *x, const double *weight, size_t n)
{
	double mean = NAN, total = 0;

	for (size_t i = 0; i < n; i++) {
		double w = weight ? weight[i] : 1;

		if (isnan(w) || isnan(x[i]))
			return NAN;
		if (w <= 0)
			continue;
		mean = total == 0 ? x[i] : mean + (x[i] - mean) * (w / (total + w));
		total += w;
	}
	return mean;
}
