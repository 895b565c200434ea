/*
 * Averages over scrambled Sobol points of the space.
 */
#include "tune/importance.h"

#include "stats/rng.h"
#include "stats/summary.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { SAMPLES = 64 };

#define Z95 1.95996398454005423552

static size_t levels_of(const struct tune_param *p)
{
	uint64_t levels = tune_param_levels(p);

	return levels && levels <= TUNE_CURVE_POINTS ? (size_t)levels : TUNE_CURVE_POINTS;
}

/* The mean over samples with parameter k at `value`, warped; sd is roughly the standard error of that mean. */
static void average(const struct tune_optimizer *o, const struct tune_model *m, size_t k, double value, double *mean,
		double *sd)
{
	struct stats_sobol sobol;
	double units[TUNE_PARAMS_MAX], point[TUNE_PARAMS_MAX], x[TUNE_PARAMS_MAX], sum = 0, sum_variance = 0;

	stats_sobol_init(&sobol, o->space->count, 1);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		double one, variance;

		stats_sobol_point(&sobol, i, units);
		tune_point_from_units(o->space, units, point);
		for (size_t c = 0; c < o->space->params[k].condition_count; c++)
			point[o->space->params[k].conditions[c].param] = o->space->params[k].conditions[c].values[0];
		point[k] = value;
		tune_point_canonical(o->space, point);
		tune_point_coordinates(o->space, point, x);
		tune_model_predict(m, &m->gp, x, &one, &variance, NULL, NULL);
		sum += one;
		sum_variance += variance;
	}
	*mean = sum / SAMPLES;
	*sd = sqrt(sum_variance / SAMPLES);
}

static void draw_curve(const struct tune_optimizer *o, const struct tune_model *m, size_t k, struct tune_curve *c,
		double *effect)
{
	const struct tune_param *p = &o->space->params[k];
	double sign = o->options.is_maximized[0] ? -1 : 1;
	struct stats_moments moments;

	c->count = levels_of(p);
	stats_moments_init(&moments);
	for (size_t i = 0; i < c->count; i++) {
		double mean, sd, a, b;

		c->at[i] = tune_param_from_unit(p, ((double)i + 0.5) / (double)c->count);
		average(o, m, k, c->at[i], &mean, &sd);
		stats_moments_add(&moments, mean);
		a = sign * tune_unwarp(&m->warp, mean - Z95 * sd);
		b = sign * tune_unwarp(&m->warp, mean + Z95 * sd);
		c->value[i] = sign * tune_unwarp(&m->warp, mean);
		c->lo[i] = fmin(a, b);
		c->hi[i] = fmax(a, b);
	}
	*effect = moments.n > 1 ? stats_variance(&moments) * (double)(moments.n - 1) / (double)moments.n : 0;
}

static double total_variance(const struct tune_optimizer *o, const struct tune_model *m)
{
	struct stats_sobol sobol;
	struct stats_moments moments;
	double units[TUNE_PARAMS_MAX], point[TUNE_PARAMS_MAX], x[TUNE_PARAMS_MAX];

	stats_sobol_init(&sobol, o->space->count, 2);
	stats_moments_init(&moments);
	for (uint32_t i = 0; i < 16 * SAMPLES; i++) {
		double mean, variance;

		stats_sobol_point(&sobol, i, units);
		tune_point_from_units(o->space, units, point);
		tune_point_coordinates(o->space, point, x);
		tune_model_predict(m, &m->gp, x, &mean, &variance, NULL, NULL);
		stats_moments_add(&moments, mean);
	}
	return stats_variance(&moments);
}

int tune_insight(const struct tune_optimizer *o, struct tune_insight *out, struct arena *arena, struct sonde_err *err)
{
	double *cost = arena_alloc(arena, (o->count + 1) * sizeof(*cost)), total;
	struct tune_model *m = arena_alloc(arena, sizeof(*m));
	struct tune_model_options how = { .cost = cost, .is_warped = true, .has_earlier = true, .has_pairs = true };
	int rc;

	memset(out, 0, sizeof(*out));
	if (!cost || !m)
		return err_sys(err, ENOMEM, "cannot inspect the model");
	for (size_t t = 0; t < o->count; t++)
		cost[t] = o->trials[t].result.state == TUNE_DONE || o->trials[t].result.state == TUNE_CUT
				? tune_cost(o, &o->trials[t], 0)
				: NAN;
	rc = tune_model_fit(m, o, &how, arena, err);
	if (rc == -ENODATA)
		return 0;
	if (rc < 0)
		return rc;
	total = total_variance(o, m);
	for (size_t k = 0; k < o->space->count; k++) {
		draw_curve(o, m, k, &out->curves[k], &out->importance[k]);
		out->importance[k] = total > 0 ? fmin(out->importance[k] / total, 1) : 0;
	}
	out->is_there = true;
	return 0;
}
