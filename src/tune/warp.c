#include "tune/warp.h"

#include "stats/summary.h"

#include <math.h>
#include <string.h>

#define LARGEST 1e150 /* its square is finite */
#define NO_COST 1e15  /* a cost above the next by this factor is a placeholder for "bad" */

static double yeo_johnson(double x, double lambda)
{
	if (x >= 0)
		return fabs(lambda) < 1e-9 ? log1p(x) : (pow(1 + x, lambda) - 1) / lambda;
	return fabs(lambda - 2) < 1e-9 ? -log1p(-x) : -(pow(1 - x, 2 - lambda) - 1) / (2 - lambda);
}

static double yeo_johnson_inverse(double y, double lambda)
{
	if (y >= 0) {
		if (fabs(lambda) < 1e-9)
			return expm1(y);
		return lambda * y <= -1 ? INFINITY : pow(1 + lambda * y, 1 / lambda) - 1;
	}
	if (fabs(lambda - 2) < 1e-9)
		return -expm1(-y);
	return (2 - lambda) * -y <= -1 ? -INFINITY : 1 - pow(1 - (2 - lambda) * y, 1 / (2 - lambda));
}

static double before_scaling(const struct tune_warp *w, double cost)
{
	cost = fmax(fmin(cost, w->most), -LARGEST);
	switch (w->kind) {
	case TUNE_WARP_LOG:
		return log(cost);
	case TUNE_WARP_LOG_OF_GAIN:
		return -log(-cost);
	case TUNE_WARP_POWER:
		return yeo_johnson((cost - w->centre) / w->width, w->lambda);
	default:
		return cost;
	}
}

static double skew(const double *x, size_t n)
{
	struct stats_moments m = stats_moments_of(x, n);
	double sd = stats_sd(&m), sum = 0;

	if (!(sd > 0))
		return 0;
	for (size_t i = 0; i < n; i++)
		sum += pow((x[i] - m.mean) / sd, 3);
	return sum / (double)n;
}

static double skew_after(struct tune_warp *w, const double *cost, size_t n, double *scratch)
{
	for (size_t i = 0; i < n; i++)
		scratch[i] = before_scaling(w, cost[i]);
	return skew(scratch, n);
}

/* The power that removes the skew: the skew falls as lambda falls. */
static double fit_lambda(struct tune_warp *w, const double *cost, size_t n, double *scratch)
{
	double lo = -3, hi = 3;

	for (int i = 0; i < 20; i++) {
		w->lambda = (lo + hi) / 2;
		if (skew_after(w, cost, n, scratch) > 0)
			hi = w->lambda;
		else
			lo = w->lambda;
	}
	return fabs(skew_after(w, cost, n, scratch));
}

static void set_scale(struct tune_warp *w, const double *cost, size_t n, double *scratch)
{
	struct stats_moments m;

	skew_after(w, cost, n, scratch);
	m = stats_moments_of(scratch, n);
	w->mean = m.mean;
	w->sd = n > 1 && stats_sd(&m) > 0 ? stats_sd(&m) : 1;
}

/*
 * Programs report 1e30 or the largest number for a bad configuration. On that scale all other costs would be equal;
 * it counts as somewhat worse than the worst of them.
 */
static double most_of(const double *cost, size_t n, double *sorted)
{
	memcpy(sorted, cost, n * sizeof(*cost));
	stats_sort(sorted, n);
	for (size_t i = 1; i < n; i++) {
		double last = sorted[i - 1], size = fmax(fabs(last), fabs(sorted[0])), spread = last - sorted[0];

		if (size > 0 && sorted[i] / NO_COST > size)
			return last + 0.5 * (spread > 0 ? spread : size);
	}
	return LARGEST;
}

void tune_warp_fit(struct tune_warp *w, const double *cost, size_t n, double *scratch)
{
	struct tune_warp none = { .kind = TUNE_WARP_NONE, .sd = 1, .most = most_of(cost, n, scratch) };
	struct tune_warp power = none, logarithm = none;
	struct stats_moments m;
	double least;

	*w = none;
	least = fabs(skew_after(w, cost, n, scratch));
	m = stats_moments_of(scratch, n);
	power.kind = TUNE_WARP_POWER;
	power.centre = m.mean;
	power.width = stats_sd(&m);
	logarithm.kind = TUNE_WARP_LOG;
	if (n < 4 || !(power.width > 0)) {
		set_scale(w, cost, n, scratch);
		return;
	}
	if (m.min > 0 && fabs(skew_after(&logarithm, cost, n, scratch)) < least) {
		least = fabs(skew_after(&logarithm, cost, n, scratch));
		*w = logarithm;
	}
	if (fit_lambda(&power, cost, n, scratch) < least)
		*w = power;
	set_scale(w, cost, n, scratch);
}

void tune_warp_log(struct tune_warp *w, const double *cost, size_t n, double *scratch)
{
	*w = (struct tune_warp){ .kind = cost[0] < 0 ? TUNE_WARP_LOG_OF_GAIN : TUNE_WARP_LOG,
		.sd = 1,
		.most = LARGEST };
	set_scale(w, cost, n, scratch);
}

double tune_warp(const struct tune_warp *w, double cost)
{
	return (before_scaling(w, cost) - w->mean) / w->sd;
}

double tune_unwarp(const struct tune_warp *w, double value)
{
	double x = value * w->sd + w->mean;

	switch (w->kind) {
	case TUNE_WARP_LOG:
		return exp(x);
	case TUNE_WARP_LOG_OF_GAIN:
		return -exp(-x);
	case TUNE_WARP_POWER:
		return w->centre + w->width * yeo_johnson_inverse(x, w->lambda);
	default:
		return x;
	}
}
