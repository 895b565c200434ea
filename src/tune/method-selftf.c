/*
 * SelfTF's method, as in its source: ten settings of a Latin hypercube, then a Gaussian process with fixed
 * hyperparameters (exponential kernel, scale 1, noise as large as the signal) and the expected improvement over the
 * last trial rather than the best, optimized by Adam from every trial. Choices are treated as numbers. A baseline,
 * defects included.
 */
#include "tune/optimizer.h"

#include "stats/matrix.h"
#include "stats/summary.h"
#include "tune/acquisition.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { SETTINGS = 10, STEPS = 500 };

struct selftf {
	size_t n, dims;
	double *x, *y;                                     /* standardized */
	double mean[TUNE_PARAMS_MAX], sd[TUNE_PARAMS_MAX]; /* of the encoded points */
	double *inverse, *alpha, *k;
};

/* The centre of one of SETTINGS bins of each axis, every bin once. */
static void latin_point(const struct tune_optimizer *o, uint64_t id, double *point)
{
	double units[TUNE_PARAMS_MAX];
	struct stats_rng rng;

	stats_rng_init(&rng, o->options.seed, 0);
	for (size_t k = 0; k < o->space->count; k++) {
		int bins[SETTINGS];

		for (int i = 0; i < SETTINGS; i++)
			bins[i] = i;
		stats_rng_shuffle(&rng, bins, SETTINGS, sizeof(bins[0]));
		units[k] = (bins[(id - 1) % SETTINGS] + 0.5) / SETTINGS;
	}
	tune_point_from_units(o->space, units, point);
}

static double distance(const struct selftf *s, const double *a, const double *b)
{
	double sum = 0;

	for (size_t k = 0; k < s->dims; k++)
		sum += (a[k] - b[k]) * (a[k] - b[k]);
	return sqrt(sum);
}

static int condition(struct selftf *s, struct arena *scratch)
{
	size_t n = s->n;
	double *l = arena_alloc(scratch, 2 * n * n * sizeof(*l));

	s->inverse = arena_alloc(scratch, (n * n + 2 * n) * sizeof(double));
	if (!l || !s->inverse)
		return -ENOMEM;
	s->alpha = s->inverse + n * n;
	s->k = s->alpha + n;
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j <= i; j++)
			l[i * n + j] = exp(-distance(s, s->x + i * s->dims, s->x + j * s->dims)) + (i == j);
	stats_cholesky(l, n);
	stats_cholesky_inverse(l, n, l + n * n, s->inverse);
	for (size_t i = 0; i < n; i++)
		s->alpha[i] = stats_dot(s->inverse + i * n, s->y, n);
	return 0;
}

/* log EI relative to the last trial, with its gradient. */
static double improvement(const struct selftf *s, const double *x, double *gradient)
{
	size_t n = s->n;
	double mean, variance = 1, by_mean, by_sd, value, sd;

	for (size_t i = 0; i < n; i++)
		s->k[i] = exp(-distance(s, x, s->x + i * s->dims));
	mean = stats_dot(s->alpha, s->k, n);
	for (size_t i = 0; i < n; i++)
		variance -= s->k[i] * stats_dot(s->inverse + i * n, s->k, n);
	sd = sqrt(fmax(variance, 1e-9));
	value = tune_log_ei(mean, sd, s->y[n - 1], &by_mean, &by_sd);
	memset(gradient, 0, s->dims * sizeof(*gradient));
	for (size_t i = 0; i < n; i++) {
		double r = fmax(distance(s, x, s->x + i * s->dims), 1e-9);
		double by_k = by_mean * s->alpha[i] - by_sd * stats_dot(s->inverse + i * n, s->k, n) / sd;

		for (size_t k = 0; k < s->dims; k++)
			gradient[k] -= by_k * s->k[i] * (x[k] - s->x[i * s->dims + k]) / r;
	}
	return value;
}

/* Runs Adam from one trial within the box; returns the best point visited. */
static void climb(const struct selftf *s, size_t start, double *best, double *best_value)
{
	double x[TUNE_PARAMS_MAX], g[TUNE_PARAMS_MAX], m[TUNE_PARAMS_MAX] = { 0 }, v[TUNE_PARAMS_MAX] = { 0 };
	double decay1 = 1, decay2 = 1;

	for (size_t k = 0; k < s->dims; k++)
		x[k] = s->x[start * s->dims + k] + 0.001;
	for (int i = 0; i < STEPS; i++) {
		double value = improvement(s, x, g);

		if (value > *best_value) {
			*best_value = value;
			memcpy(best, x, s->dims * sizeof(*x));
		}
		decay1 *= 0.9;
		decay2 *= 0.999;
		for (size_t k = 0; k < s->dims; k++) {
			m[k] = 0.9 * m[k] + 0.1 * g[k];
			v[k] = 0.999 * v[k] + 0.001 * g[k] * g[k];
			x[k] += 0.01 * m[k] / (1 - decay1) / (sqrt(v[k] / (1 - decay2)) + 1e-6);
			x[k] = fmin(fmax(x[k], -s->mean[k] / s->sd[k]), (1 - s->mean[k]) / s->sd[k]);
		}
	}
}

/* The settings and costs of the completed trials. -ENOMEM. */
static int gather(struct selftf *s, const struct tune_optimizer *o, struct arena *arena)
{
	s->x = arena_alloc(arena, (o->count + 1) * (s->dims + 1) * sizeof(double));
	if (!s->x)
		return -ENOMEM;
	s->y = s->x + (o->count + 1) * s->dims;
	for (size_t t = 0; t < o->count; t++) {
		if (o->trials[t].result.state != TUNE_DONE)
			continue;
		for (size_t k = 0; k < s->dims; k++) {
			double value = o->trials[t].point[k];

			s->x[s->n * s->dims + k] = isnan(value) ? 0.5 : tune_param_to_unit(&o->space->params[k], value);
		}
		s->y[s->n++] = tune_cost(o, &o->trials[t], 0);
	}
	return 0;
}

/* The SD to divide by: 1 if the values are all equal. */
static double scale_of(const struct stats_moments *m)
{
	double sd = stats_sd(m);

	return sd > 0 ? sd : 1;
}

static void standardize(struct selftf *s)
{
	struct stats_moments m = stats_moments_of(s->y, s->n);
	double sd = scale_of(&m);

	for (size_t i = 0; i < s->n; i++)
		s->y[i] = (s->y[i] - m.mean) / sd;
	for (size_t k = 0; k < s->dims; k++) {
		stats_moments_init(&m);
		for (size_t i = 0; i < s->n; i++)
			stats_moments_add(&m, s->x[i * s->dims + k]);
		s->mean[k] = m.mean;
		s->sd[k] = scale_of(&m);
		for (size_t i = 0; i < s->n; i++)
			s->x[i * s->dims + k] = (s->x[i * s->dims + k] - s->mean[k]) / s->sd[k];
	}
}

static int propose(struct tune_optimizer *o, uint64_t id, double *point, struct arena *scratch, struct sonde_err *err)
{
	struct selftf s = { .dims = o->space->count };
	double best[TUNE_PARAMS_MAX] = { 0 }, best_value = -INFINITY;
	struct stats_rng rng;

	stats_rng_init(&rng, o->options.seed, id);
	if (gather(&s, o, scratch) < 0)
		return err_sys(err, ENOMEM, "cannot choose the next trial");
	if (id <= SETTINGS || s.n < 2) {
		latin_point(o, id, point);
		return tune_point_is_allowed(o->space, point) ? 0 : tune_random_point(o, &rng, point, err);
	}
	standardize(&s);
	if (condition(&s, scratch) < 0)
		return err_sys(err, ENOMEM, "cannot choose the next trial");
	for (size_t i = 0; i < s.n; i++)
		climb(&s, i, best, &best_value);
	for (size_t k = 0; k < s.dims; k++)
		best[k] = best[k] * s.sd[k] + s.mean[k];
	tune_point_from_units(o->space, best, point);
	return tune_point_is_allowed(o->space, point) ? 0 : tune_random_point(o, &rng, point, err);
}

const struct tune_method tune_method_selftf = { "selftf", "SelfTF's own Bayesian optimiser, for comparison", propose };
