/*
 * The default method: first the default configuration, then a few space-filling points, then points where a Gaussian
 * process has the highest expected improvement.
 *
 * Several objectives are scalarized with random weights each time (ParEGO: Knowles, IEEE Trans. Evol. Comput. 10(1),
 * 2006), so that proposals spread along the Pareto front. Failures and limits have separate models of the probability
 * that a configuration is feasible.
 */
#include "tune/acquisition.h"
#include "tune/optimizer.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum {
	DESIGN_MIN = 5,
	DESIGN_MAX = 10,
	DESIGN_WARM = 4, /* with a warm start from earlier studies */
	STREAM_WEIGHTS = 1 << 16,
	AGAIN_FROM = 12, /* trials before the first repeated measurement, */
	AGAIN_EVERY = 4, /* and then at most one repeat per so many trials */
	AGAIN_MAX = 8,   /* measurements of one configuration by this method */
};

#define SECONDS_MATTER 3   /* factor by which trial times must differ to be modelled */
#define NOISE_MATTERS 0.02 /* fraction of the variance of all trials: with less noise no repeats are needed */

static size_t design_size(const struct tune_optimizer *o)
{
	size_t n = o->space->count + 1;

	for (size_t i = 0; i < o->options.warm_start_count; i++)
		if (o->options.earlier[i].has_model)
			return DESIGN_WARM;
	return n < DESIGN_MIN ? DESIGN_MIN : n > DESIGN_MAX ? DESIGN_MAX : n;
}

static bool has_cost(const struct tune_trial *t)
{
	return t->result.state == TUNE_DONE || t->result.state == TUNE_CUT;
}

/* The largest weighted distance from the best of each objective, plus a small multiple of their sum. */
static int weigh(const struct tune_optimizer *o, uint64_t id, double *cost, struct arena *arena)
{
	double weights[TUNE_OBJECTIVES_MAX], *one = arena_alloc(arena, 2 * (o->count + 1) * sizeof(*one));
	struct stats_rng rng;
	double sum = 0;

	if (!one)
		return -ENOMEM;
	/* A random point of the simplex, deterministic per trial. */
	stats_rng_init(&rng, o->options.seed, STREAM_WEIGHTS + id);
	for (size_t k = 0; k < o->options.objective_count; k++)
		sum += weights[k] = stats_rng_exponential(&rng);
	for (size_t k = 0; k < o->options.objective_count; k++)
		weights[k] /= sum;
	for (size_t t = 0; t < o->count; t++)
		cost[t] = has_cost(&o->trials[t]) ? 0 : NAN;
	for (size_t k = 0; k < o->options.objective_count; k++) {
		double least = INFINITY;
		struct tune_warp warp;
		size_t n = 0;

		/* This objective's costs, warped and standardized; NaN if missing. */
		for (size_t t = 0; t < o->count; t++)
			if (has_cost(&o->trials[t]))
				one[n++] = tune_cost(o, &o->trials[t], k);
		tune_warp_fit(&warp, one, n, one + o->count + 1);
		for (size_t t = 0; t < o->count; t++)
			one[t] = has_cost(&o->trials[t]) ? tune_warp(&warp, tune_cost(o, &o->trials[t], k)) : NAN;
		for (size_t t = 0; t < o->count; t++)
			least = fmin(least, one[t]);
		for (size_t t = 0; t < o->count; t++) {
			double far = weights[k] * (one[t] - least);

			cost[t] = fmax(cost[t], far) + 0.05 * far;
		}
	}
	for (size_t t = 0; t < o->count; t++)
		if (!has_cost(&o->trials[t]))
			cost[t] = NAN;
	return 0;
}

static int costs_of(const struct tune_optimizer *o, uint64_t id, double *cost, struct arena *arena)
{
	double *scratch = arena_alloc(arena, (o->count + 1) * sizeof(*scratch));
	int rc = scratch ? 0 : -ENOMEM;
	double middle;
	size_t n = 0;

	if (rc < 0)
		return rc;
	if (o->options.objective_count > 1)
		rc = weigh(o, id, cost, arena);
	else
		for (size_t t = 0; t < o->count; t++)
			cost[t] = has_cost(&o->trials[t]) ? tune_cost(o, &o->trials[t], 0) : NAN;
	/* A failed trial counts as a median one: it attracts no proposals and adds no cliff to the model nearby. */
	for (size_t t = 0; t < o->count; t++)
		if (has_cost(&o->trials[t]))
			scratch[n++] = cost[t];
	middle = stats_median(scratch, n);
	for (size_t t = 0; t < o->count; t++)
		if (o->trials[t].result.state == TUNE_FAILED)
			cost[t] = middle;
	return rc;
}

/* Adds a model that must stay below 0; skipped with too few trials. */
static int add_feasibility(struct tune_acquisition *a, const struct tune_optimizer *o, const double *cost,
		bool is_label, struct arena *arena, struct sonde_err *err)
{
	struct tune_model_options how = { .cost = cost, .is_label = is_label };
	int rc = tune_model_fit(&a->feasibility[a->feasibility_count], o, &how, arena, err);

	a->feasibility_count += rc == 0;
	return rc == -ENODATA ? 0 : rc;
}

/*
 * The distance of trials beyond one side of limit k, NaN if missing. It is in units of the distance that nine of ten
 * stay within, and logarithmic farther out, so that far outliers do not blur where the limit is.
 */
static void distances_beyond(const struct tune_optimizer *o, size_t k, bool is_min, double *distance, double *scratch)
{
	double limit = is_min ? o->options.limits[k].min : o->options.limits[k].max;
	double sign = is_min ? -1 : 1, unit;
	size_t n = 0;

	for (size_t t = 0; t < o->count; t++) {
		double value = o->trials[t].result.limits[k];

		distance[t] = NAN;
		if (!has_cost(&o->trials[t]) || !isfinite(value))
			continue;
		distance[t] = sign * (value - limit);
		scratch[n++] = fabs(distance[t]);
	}
	unit = n ? stats_quantile(scratch, n, 0.9) : 0;
	for (size_t t = 0; t < o->count; t++)
		distance[t] = asinh(distance[t] / (unit > 0 ? unit : 1));
}

static int add_limits(struct tune_acquisition *a, const struct tune_optimizer *o, double *cost, struct arena *arena,
		struct sonde_err *err)
{
	double *scratch = arena_alloc(arena, (o->count + 1) * sizeof(*scratch));
	int rc = 0;

	if (!scratch)
		return err_sys(err, ENOMEM, "cannot choose the next trial");
	for (size_t k = 0; k < o->options.limit_count && rc == 0; k++) {
		if (isfinite(o->options.limits[k].max)) {
			distances_beyond(o, k, false, cost, scratch);
			rc = add_feasibility(a, o, cost, false, arena, err);
		}
		if (rc == 0 && isfinite(o->options.limits[k].min)) {
			distances_beyond(o, k, true, cost, scratch);
			rc = add_feasibility(a, o, cost, false, arena, err);
		}
	}
	return rc;
}

/* Models the run time of trials, if enabled and if they differ. */
static int add_seconds(struct tune_acquisition *a, const struct tune_optimizer *o, double *cost, struct arena *arena,
		struct sonde_err *err)
{
	struct tune_model_options how = { .cost = cost };
	double least = INFINITY, most = 0;
	int rc;

	for (size_t t = 0; t < o->count; t++) {
		const struct tune_result *r = &o->trials[t].result;

		cost[t] = r->state != TUNE_PENDING && r->wall_s > 0 ? log(r->wall_s) : NAN;
		if (!isnan(cost[t])) {
			least = fmin(least, r->wall_s);
			most = fmax(most, r->wall_s);
		}
	}
	if (!o->options.is_per_second || !(most > SECONDS_MATTER * least))
		return 0;
	rc = tune_model_fit(&a->seconds, o, &how, arena, err);
	a->has_seconds = rc == 0;
	return rc == -ENODATA ? 0 : rc;
}

/*
 * The best expected cost among rows that keep the limits; if none do, only feasibility counts. For rows measured in
 * pairs, differences are more precise than the values.
 */
static int aim(struct stats_gp *gp, const struct tune_acquisition *a, const struct tune_optimizer *o, double *target,
		struct arena *scratch)
{
	double least = INFINITY;
	size_t row = a->model.n;

	*target = INFINITY;
	for (size_t i = 0; i < a->model.n; i++) {
		double mean, variance;

		tune_model_predict(&a->model, gp, gp->data.x + i * o->space->count, &mean, &variance, NULL, NULL);
		least = fmin(least, mean);
		if (mean < *target && tune_trial_is_good(o, &o->trials[a->model.trials[i]])) {
			*target = mean;
			row = i;
		}
	}
	if (row == a->model.n)
		*target = least + 3;
	else if (a->model.shared)
		return stats_gp_relate(gp, row, scratch);
	return 0;
}

static int set_members(struct tune_acquisition *a, const struct tune_optimizer *o, struct arena *scratch)
{
	a->members[0] = &a->model.gp;
	for (size_t i = 0; i < a->model.other_count; i++)
		a->members[i + 1] = &a->model.others[i];
	a->member_count = a->model.other_count + 1;
	for (size_t i = 0; i < a->member_count; i++)
		if (aim(i ? &a->model.others[i - 1] : &a->model.gp, a, o, &a->targets[i], scratch) < 0)
			return -ENOMEM;
	return 0;
}

/* The best row by expectation and the runner-up; n if none. */
static void find_leaders(const struct tune_acquisition *a, const struct tune_optimizer *o, size_t *best, size_t *second,
		double *means, double *sds)
{
	*best = *second = a->model.n;
	for (size_t i = 0; i < a->model.n; i++) {
		double variance;

		if (!tune_trial_is_good(o, &o->trials[a->model.trials[i]]))
			continue;
		tune_model_predict(&a->model, &a->model.gp, a->model.x + i * o->space->count, &means[i], &variance,
				NULL, NULL);
		sds[i] = sqrt(variance);
		if (*best == a->model.n || means[i] < means[*best]) {
			*second = *best;
			*best = i;
		} else if (*second == a->model.n || means[i] < means[*second]) {
			*second = i;
		}
	}
}

static bool is_pending(const struct tune_optimizer *o, const double *point)
{
	for (size_t t = 0; t < o->count; t++)
		if (o->trials[t].result.state == TUNE_PENDING && tune_point_equal(o->space, o->trials[t].point, point))
			return true;
	return false;
}

/* Has a repeated measurement given exactly the same value? Then noise is zero, contrary to the model. */
static bool is_exact(const struct tune_optimizer *o)
{
	for (size_t t = 0; t < o->count; t++)
		for (size_t i = 0; i < t && o->trials[t].is_again && o->trials[t].result.state == TUNE_DONE; i++)
			if (o->trials[i].result.state == TUNE_DONE &&
					tune_point_equal(o->space, o->trials[i].point, o->trials[t].point))
				return o->trials[i].result.values[0] == o->trials[t].result.values[0];
	return false;
}

/*
 * If noise may decide which is best, the best is measured again from time to time, or the runner-up if it is less
 * well known: a lucky measurement then does not mislead the search for long. NULL: no repeat is due.
 */
static const double *again(const struct tune_acquisition *a, const struct tune_optimizer *o, struct arena *scratch)
{
	double *means = arena_alloc(scratch, a->model.n * sizeof(*means));
	double *sds = arena_alloc(scratch, a->model.n * sizeof(*sds));
	size_t best, second, row;

	if (!means || !sds || o->options.objective_count > 1 || o->count < AGAIN_FROM || is_exact(o) ||
			exp(a->model.gp.parameters.noise) < NOISE_MATTERS)
		return NULL;
	find_leaders(a, o, &best, &second, means, sds);
	if (second == a->model.n || hypot(sds[best], sds[second]) < 0.5 * (means[second] - means[best]))
		return NULL;
	row = a->model.noise[best] <= a->model.noise[second] && sds[second] > sds[best] ? second : best;
	if (a->model.noise[row] * AGAIN_MAX <= 1 || is_pending(o, a->model.points[row]))
		return NULL;
	return a->model.points[row];
}

static int propose(struct tune_optimizer *o, uint64_t id, double *point, struct arena *scratch, struct sonde_err *err)
{
	struct tune_acquisition *a = arena_alloc(scratch, sizeof(*a));
	double *cost = arena_alloc(scratch, (o->count + 1) * sizeof(*cost));
	struct tune_model_options how = { .cost = cost,
		.is_warped = true,
		.has_pending = true,
		.has_others = true,
		.has_earlier = o->options.objective_count == 1,
		.has_pairs = o->options.objective_count == 1,
		.stream = id };
	int rc;

	if (o->count < design_size(o))
		return tune_design_point(o, id, point, err);
	if (!a || !cost || costs_of(o, id, cost, scratch) < 0)
		return err_sys(err, ENOMEM, "cannot choose the next trial");
	a->space = o->space;
	rc = tune_model_fit(&a->model, o, &how, scratch, err);
	if (rc == -ENODATA)
		return tune_design_point(o, id, point, err);
	if (rc == 0) {
		size_t failed = 0; /* failures count 1, others -1 */

		for (size_t t = 0; t < o->count; t++) {
			bool is_failed = o->trials[t].result.state == TUNE_FAILED;

			failed += is_failed;
			cost[t] = is_failed ? 1 : has_cost(&o->trials[t]) ? -1 : NAN;
		}
		rc = failed ? add_feasibility(a, o, cost, true, scratch, err) : 0;
	}
	if (rc == 0)
		rc = add_limits(a, o, cost, scratch, err);
	if (rc == 0)
		rc = add_seconds(a, o, cost, scratch, err);
	if (rc < 0)
		return rc;
	if (set_members(a, o, scratch) < 0)
		return err_sys(err, ENOMEM, "cannot choose the next trial");
	if (id % AGAIN_EVERY == 0) {
		const double *known = again(a, o, scratch);

		if (known) {
			memcpy(point, known, o->space->count * sizeof(*point));
			return 0;
		}
	}
	return tune_search(o, a, id, point, scratch, err);
}

const struct tune_method tune_method_gp = { "gp", "a Gaussian process and the expected improvement", propose };
