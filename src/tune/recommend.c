/*
 * The recommendation is the configuration with the lowest expected cost, not the best measurement. With noise the
 * best of many measurements is too optimistic; the model also uses neighbouring trials.
 */
#include "tune/model.h"

#include <errno.h>
#include <math.h>

#define Z95 1.95996398454005423552

/* Good, and not the excluded configuration. */
static bool is_eligible(const struct tune_optimizer *o, const struct tune_trial *t, const double * not )
{
	return tune_trial_is_good(o, t) && !(not &&tune_point_equal(o->space, t->point, not ));
}

static void take_best_seen(const struct tune_optimizer *o, const double * not, struct tune_best *best)
{
	for (size_t t = 0; t < o->count; t++) {
		const struct tune_trial *trial = &o->trials[t];

		if (!is_eligible(o, trial, not ))
			continue;
		if (!best->trial || tune_cost(o, trial, 0) < tune_cost(o, best->trial, 0))
			best->trial = trial;
	}
	if (best->trial)
		best->value = best->trial->result.values[0];
}

static void set_interval(const struct tune_optimizer *o, const struct tune_model *m, size_t row, struct tune_best *best)
{
	double mean, variance, low, high, sign = o->options.is_maximized[0] ? -1 : 1;

	tune_model_predict(m, &m->gp, m->gp.data.x + row * o->space->count, &mean, &variance, NULL, NULL);
	low = tune_unwarp(&m->warp, mean - Z95 * sqrt(variance));
	high = tune_unwarp(&m->warp, mean + Z95 * sqrt(variance));
	best->value = sign * tune_unwarp(&m->warp, mean);
	best->lo = fmin(sign * low, sign * high);
	best->hi = fmax(sign * low, sign * high);
	best->is_modelled = true;
}

static void take_best_expected(const struct tune_optimizer *o, const struct tune_model *m, const double * not,
		struct tune_best *best)
{
	double least = INFINITY, mean, variance;
	size_t row = m->n;

	for (size_t i = 0; i < m->n; i++) {
		const struct tune_trial *trial = &o->trials[m->trials[i]];

		if (!is_eligible(o, trial, not ))
			continue;
		tune_model_predict(m, &m->gp, m->gp.data.x + i * o->space->count, &mean, &variance, NULL, NULL);
		if (mean < least) {
			least = mean;
			row = i;
		}
	}
	if (row == m->n)
		return;
	best->trial = &o->trials[m->trials[row]];
	set_interval(o, m, row, best);
}

int tune_recommend_other(struct tune_optimizer *o, const double *than, struct tune_best *best, struct arena *scratch,
		struct sonde_err *err)
{
	double *cost = arena_alloc(scratch, (o->count + 1) * sizeof(*cost));
	struct tune_model_options how = { .cost = cost, .is_warped = true, .has_earlier = true, .has_pairs = true };
	struct tune_model *m = arena_alloc(scratch, sizeof(*m));
	int rc;

	*best = (struct tune_best){ .value = NAN, .lo = NAN, .hi = NAN };
	if (!cost || !m)
		return err_sys(err, ENOMEM, "cannot choose the best trial");
	take_best_seen(o, than, best);
	if (!best->trial)
		return 0;
	for (size_t t = 0; t < o->count; t++)
		cost[t] = o->trials[t].result.state == TUNE_DONE || o->trials[t].result.state == TUNE_CUT
				? tune_cost(o, &o->trials[t], 0)
				: NAN;
	rc = tune_model_fit(m, o, &how, scratch, err);
	if (rc == -ENODATA)
		return 0;
	if (rc == 0)
		take_best_expected(o, m, than, best);
	return rc;
}

int tune_recommend(struct tune_optimizer *o, struct tune_best *best, struct arena *scratch, struct sonde_err *err)
{
	return tune_recommend_other(o, NULL, best, scratch, err);
}
