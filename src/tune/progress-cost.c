#include "tune/progress-cost.h"

#include "base/cleanup.h"
#include "stats/dist.h"
#include "tune/model.h"

#include <errno.h>
#include <math.h>

/*
 * Standard deviations of logarithms: of the progress per iteration before any data, and of the error of the curve's
 * slope. With fewer reports the losses are ignored.
 */
static const double prior_sd = 0.15, curve_sd = 0.3;
/*
 * Each additional worker increases the number of iterations a job takes by this fraction. The shipped CNN takes 1.04,
 * 1.10, 1.31 times as many with 2, 4, 8.
 */
static const double staleness = 0.04;
enum { REPORTS_MIN = 100 };

/* The slope of the logarithm of the stage's losses, and its standard error. */
static void slope_of(const struct online_controller *c, const struct online_stage *s, double *slope, double *error)
{
	const double *losses = c->losses + s->first_loss;
	size_t left = c->loss_count - s->first_loss, all = s->count < left ? s->count : left, n = 0;
	double sx = 0, sy = 0, sxx = 0, sxy = 0, syy = 0, det, rest;

	for (size_t i = 0; i < all; i++) {
		double x = (double)i, y = log(losses[i]);

		if (!isfinite(y))
			continue;
		n++;
		sx += x;
		sy += y;
		sxx += x * x;
		sxy += x * y;
		syy += y * y;
	}
	det = (double)n * sxx - sx * sx;
	*slope = ((double)n * sxy - sx * sy) / det;
	rest = syy - sy * sy / (double)n - *slope * *slope * det / (double)n;
	*error = n > 2 ? sqrt(fmax(rest, 0) / (double)(n - 2) * (double)n / det) : INFINITY;
}

double progress_cost_of_workers(size_t workers)
{
	return 1 / (1 + staleness * (double)(workers > 1 ? workers - 1 : 0));
}

double progress_cost_usual(const struct online_controller *c)
{
	return c->loss_count ? c->brought / (double)c->loss_count : 1;
}

/*
 * Progress per iteration relative to the job's average: by the number of workers, and by the losses weighted by their
 * precision.
 */
static double efficiency(const struct online_controller *c, const struct online_stage *s)
{
	double middle = (double)s->first_loss + (double)s->count / 2, slope, error, usual, noise, ratio;
	double expected = progress_cost_of_workers(s->workers) / progress_cost_usual(c);

	if (s->count < REPORTS_MIN)
		return expected;
	usual = stats_curve_slope(&c->fit, fmax(middle, 1));
	slope_of(c, s, &slope, &error);
	ratio = fmin(fmax(slope / usual, 0.2), 3);
	if (!(usual < 0) || !isfinite(slope) || !isfinite(error))
		return expected;
	if (slope > 2 * error)
		return 0.2; /* the losses grow: it does not train at all */
	noise = sqrt(pow(error / usual, 2) + curve_sd * curve_sd);
	return expected + prior_sd * prior_sd / (prior_sd * prior_sd + noise * noise) * (ratio - expected);
}

struct progress_cost progress_cost_measured(const struct online_controller *c, const struct online_stage *s)
{
	struct stats_interval rate = online_stage_rate(s);
	double brings = efficiency(c, s) * progress_cost_usual(c);
	struct progress_cost w = { rate.estimate / brings, NAN };

	w.sd = isfinite(rate.se) ? rate.se / brings : w.mean;
	return w;
}

static int fit(const struct online_controller *c, struct tune_model *m, struct arena *scratch, struct sonde_err *err)
{
	const struct tune_optimizer *o = &c->optimizer;
	double *cost = arena_alloc(scratch, (o->count + 1) * sizeof(*cost));
	struct tune_model_options how = { .cost = cost, .is_warped = true };

	if (!cost)
		return err_sys(err, ENOMEM, "cannot predict the progress");
	for (size_t t = 0; t < o->count; t++)
		cost[t] = o->trials[t].result.state == TUNE_DONE || o->trials[t].result.state == TUNE_CUT
				? tune_cost(o, &o->trials[t], 0)
				: NAN;
	return tune_model_fit(m, o, &how, scratch, err);
}

int progress_cost_expected(const struct online_controller *c, const double *point, struct progress_cost *cost,
		struct sonde_err *err)
{
	CLEANUP(arena_release) struct arena scratch = ARENA_INIT;
	struct tune_model *m = arena_alloc(&scratch, sizeof(*m));
	double at[TUNE_PARAMS_MAX], mean, variance;
	int rc = m ? fit(c, m, &scratch, err) : err_sys(err, ENOMEM, "cannot predict the progress");

	if (rc < 0)
		return rc;
	tune_point_coordinates(c->optimizer.space, point, at);
	stats_gp_predict(&m->gp, at, &mean, &variance, NULL, NULL);
	cost->mean = tune_unwarp(&m->warp, mean);
	cost->sd = (tune_unwarp(&m->warp, mean + sqrt(variance)) - tune_unwarp(&m->warp, mean - sqrt(variance))) / 2;
	if (!isfinite(cost->sd))
		cost->sd = fabs(cost->mean);
	return 0;
}

int progress_cost_best(struct online_controller *c, const double **point, struct progress_cost *cost,
		struct sonde_err *err)
{
	CLEANUP(arena_release) struct arena scratch = ARENA_INIT;
	struct tune_best best;
	int rc = tune_recommend(&c->optimizer, &best, &scratch, err);

	*point = NULL;
	if (rc < 0 || !best.trial)
		return rc;
	*point = best.trial->point;
	cost->mean = best.value;
	cost->sd = best.is_modelled ? (best.hi - best.lo) / 4 : 0.1 * best.value;
	for (size_t i = 0; i < c->stage_count; i++) { /* the measurement, where it is more precise than the model */
		struct progress_cost seen = progress_cost_measured(c, c->stages[i]);

		if (seen.sd < cost->sd && tune_point_equal(c->optimizer.space, c->stages[i]->point, *point))
			*cost = seen;
	}
	return 0;
}

double progress_cost_improvement(const struct progress_cost *w, double than)
{
	double z = (than - w->mean) / w->sd;

	if (!(w->sd > 0))
		return fmax(0, than - w->mean);
	return w->sd * (z * stats_normal_cdf(z) + exp(-z * z / 2) / sqrt(2 * M_PI));
}

struct progress_cost progress_cost_to_go(const struct online_controller *c)
{
	double usual = progress_cost_usual(c);
	struct progress_cost go = { c->fit.remaining.estimate * usual, c->fit.remaining.se * usual };

	/* Without a target or a fit yet: assume that the job is half done. */
	if (!isfinite(go.mean))
		go.mean = go.sd = (double)c->loss_count;
	return go;
}

double progress_cost_sure_to_go(const struct online_controller *c)
{
	struct progress_cost go = progress_cost_to_go(c);

	if (!(go.mean > 0))
		return 0;
	/* However wrong the curve is: with even odds the job lasts as long again as it has so far. */
	return fmax(go.mean * exp(-c->plan->confidence * go.sd / go.mean), fmin(go.mean, (double)c->loss_count));
}
