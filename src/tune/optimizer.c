/*
 * The trials and their states. Choosing the next one is up to a method.
 */
#include "tune/optimizer.h"

#include "base/vec.h"
#include "stats/rng.h"
#include "tune/model.h"
#include "tune/space.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	TRIES = 20000,        /* of rejection sampling, before a space is enumerated or the search fails */
	ENUMERATED = 1 << 20, /* maximum number of points to enumerate */
	DESIGN_TRIES = 256,
	WALK_TRIES = 4000, /* where rejection sampling finds no point */
	WALK_STEPS = 30,
	WALK_HALVINGS = 24,
};

int tune_optimizer_init(struct tune_optimizer *o, const struct tune_space *space, const struct tune_options *options,
		struct sonde_err *err)
{
	memset(o, 0, sizeof(*o));
	if (!space->count)
		return err_set(err, EINVAL, "nothing to tune: the study has no parameters");
	o->space = space;
	o->options = *options;
	if (!o->options.method)
		o->options.method = tune_methods[0];
	if (!o->options.objective_count)
		o->options.objective_count = 1;
	arena_init(&o->arena);
	return 0;
}

void tune_optimizer_release(struct tune_optimizer *o)
{
	free(o->trials);
	arena_release(&o->arena);
	memset(o, 0, sizeof(*o));
}

double tune_cost(const struct tune_optimizer *o, const struct tune_trial *t, size_t objective)
{
	double value = t->result.values[objective];

	return o->options.is_maximized[objective] ? -value : value;
}

struct tune_trial *tune_find(const struct tune_optimizer *o, uint64_t id)
{
	for (size_t i = o->count; i-- > 0;)
		if (o->trials[i].id == id)
			return &o->trials[i];
	return NULL;
}

bool tune_is_tried(const struct tune_optimizer *o, const double *point)
{
	for (size_t i = 0; i < o->count; i++)
		if (tune_point_equal(o->space, o->trials[i].point, point))
			return true;
	return false;
}

int tune_add(struct tune_optimizer *o, uint64_t id, const double *point, const struct tune_trial **trial,
		struct sonde_err *err)
{
	struct tune_trial t = { .id = id ? id : o->last_id + 1 };

	if (id && tune_find(o, id))
		return err_set(err, EEXIST, "trial %" PRIu64 " exists already", id);
	if (o->count >= TUNE_TRIALS_MAX)
		return err_set(err, EFBIG, "too many trials (maximum %d)", TUNE_TRIALS_MAX);
	t.point = (void *)arena_copy(&o->arena, point, o->space->count * sizeof(*point));
	if (!t.point || !VEC_GROW(o->trials, o->cap, o->count + 1, TUNE_TRIALS_MAX))
		return err_sys(err, ENOMEM, "cannot add a trial");
	tune_point_canonical(o->space, t.point);
	t.is_again = tune_is_tried(o, t.point);
	o->last_id = t.id > o->last_id ? t.id : o->last_id;
	o->trials[o->count++] = t;
	if (trial)
		*trial = &o->trials[o->count - 1];
	return 0;
}

int tune_ask(struct tune_optimizer *o, const struct tune_trial **trial, struct sonde_err *err)
{
	double point[TUNE_PARAMS_MAX];
	struct arena scratch;
	int rc;

	arena_init(&scratch);
	rc = o->options.method->propose(o, o->last_id + 1, point, &scratch, err);
	arena_release(&scratch);
	return rc < 0 ? rc : tune_add(o, 0, point, trial, err);
}

int tune_tell(struct tune_optimizer *o, uint64_t id, const struct tune_result *result, struct sonde_err *err)
{
	struct tune_trial *t = tune_find(o, id);

	if (!t)
		return err_set(err, ENOENT, "trial %" PRIu64 " not found", id);
	if (t->result.state != TUNE_PENDING)
		return err_set(err, EEXIST, "trial %" PRIu64 " has a result already", id);
	if (result->state == TUNE_PENDING)
		return err_set(err, EINVAL, "trial %" PRIu64 " has no result", id);
	t->result = *result;
	for (size_t k = 0; k < o->options.objective_count; k++)
		if (!isfinite(result->values[k]))
			t->result.state = TUNE_FAILED;
	return 0;
}

int tune_retry(struct tune_optimizer *o, uint64_t id, struct sonde_err *err)
{
	struct tune_trial *t = tune_find(o, id);

	if (!t || t->result.state != TUNE_FAILED)
		return err_set(err, ENOENT,
				"trial %" PRIu64 " not found"
				" that failed",
				id);
	t->result = (struct tune_result){ .state = TUNE_PENDING };
	return 0;
}

bool tune_trial_is_good(const struct tune_optimizer *o, const struct tune_trial *t)
{
	if (t->result.state != TUNE_DONE)
		return false;
	for (size_t k = 0; k < o->options.limit_count; k++)
		if (t->result.limits[k] < o->options.limits[k].min || t->result.limits[k] > o->options.limits[k].max)
			return false;
	return true;
}

bool tune_dominates(const struct tune_optimizer *o, const struct tune_trial *a, const struct tune_trial *b)
{
	bool is_better = false;

	for (size_t k = 0; k < o->options.objective_count; k++) {
		if (tune_cost(o, a, k) > tune_cost(o, b, k))
			return false;
		is_better |= tune_cost(o, a, k) < tune_cost(o, b, k);
	}
	return is_better;
}

static int no_point(const struct tune_optimizer *o, struct sonde_err *err)
{
	err_set(err, ENOENT, "no configuration was found that satisfies the constraints");
	if (o->space->constraint_count)
		err_hint(err, "check '%s'%s; defaults that satisfy %s help",
				tune_expression_text(o->space->constraints[0]),
				o->space->constraint_count > 1 ? " and the others: together they may exclude everything"
							       : "",
				o->space->constraint_count > 1 ? "all of them" : "it");
	return -ENOENT;
}

/* An allowed point of a small discrete space, untried if possible. */
static int enumerate(const struct tune_optimizer *o, struct stats_rng *rng, double *point, struct sonde_err *err)
{
	uint64_t size = tune_space_size(o->space, ENUMERATED), start = stats_rng_below(rng, size ? size : 1);
	double candidate[TUNE_PARAMS_MAX];
	bool is_found = false;

	for (uint64_t i = 0; i < size; i++) {
		tune_space_nth(o->space, (start + i) % size, candidate);
		if (!tune_point_is_allowed(o->space, candidate))
			continue;
		bool is_tried = tune_is_tried(o, candidate);

		if (is_found && is_tried)
			continue;
		memcpy(point, candidate, o->space->count * sizeof(*point));
		is_found = true;
		if (!is_tried)
			return 0;
	}
	return is_found ? 0 : no_point(o, err);
}

/* A configuration that is known to be allowed: the default, or one of the trials. */
static bool allowed_start(const struct tune_optimizer *o, struct stats_rng *rng, double *point)
{
	uint64_t first = stats_rng_below(rng, o->count + 1);

	for (uint64_t i = 0; i <= o->count; i++) {
		uint64_t which = (first + i) % (o->count + 1);

		if (which == o->count)
			tune_point_default(o->space, point);
		else
			memcpy(point, o->trials[which].point, o->space->count * sizeof(*point));
		if (tune_point_is_allowed(o->space, point))
			return true;
	}
	return false;
}

/* For constraints too tight for rejection sampling: a random walk from an allowed point. */
static bool walk(const struct tune_optimizer *o, struct stats_rng *rng, double *point)
{
	double at[TUNE_PARAMS_MAX], to[TUNE_PARAMS_MAX];
	bool is_found = false;
	int steps = 0;

	if (!allowed_start(o, rng, at))
		return false;
	for (int i = 0; i < WALK_TRIES && steps < WALK_STEPS; i++) {
		double step = ldexp(1, -(int)stats_rng_below(rng, WALK_HALVINGS)), units[TUNE_PARAMS_MAX];

		/* Changes some of its values, by steps of any size. */
		for (size_t k = 0; k < o->space->count; k++) {
			const struct tune_param *p = &o->space->params[k];
			bool is_moved = stats_rng_uniform(rng) < 0.5;

			if (isnan(at[k]) || (is_moved && tune_param_is_category(p))) {
				units[k] = stats_rng_open(rng);
				continue;
			}
			units[k] = tune_param_to_unit(p, at[k]) + (is_moved ? step * stats_rng_normal(rng) : 0);
			units[k] = fmin(fmax(units[k], 0), 1);
		}
		tune_point_from_units(o->space, units, to);
		if (!tune_point_is_allowed(o->space, to) || tune_is_tried(o, to))
			continue;
		memcpy(at, to, o->space->count * sizeof(*at));
		is_found = true;
		steps++;
	}
	if (is_found)
		memcpy(point, at, o->space->count * sizeof(*point));
	return is_found;
}

int tune_random_point(const struct tune_optimizer *o, struct stats_rng *rng, double *point, struct sonde_err *err)
{
	uint64_t size = tune_space_size(o->space, ENUMERATED);
	int tries = size && size < TRIES ? 200 : TRIES;
	bool is_found = false;
	double candidate[TUNE_PARAMS_MAX];

	for (int i = 0; i < tries; i++) {
		tune_point_random(o->space, rng, candidate);
		if (!tune_point_is_allowed(o->space, candidate))
			continue;
		memcpy(point, candidate, o->space->count * sizeof(*point));
		is_found = true;
		if (!tune_is_tried(o, candidate))
			return 0;
	}
	if (size)
		return enumerate(o, rng, point, err);
	return walk(o, rng, point) || is_found ? 0 : no_point(o, err);
}

/* The best untried point of the earlier studies, taking the studies in turn. */
static bool earlier_point(const struct tune_optimizer *o, double *point)
{
	for (size_t rank = 0; rank < TUNE_WARM_START_BEST; rank++)
		for (size_t i = 0; i < o->options.warm_start_count; i++) {
			const struct tune_warm_start *e = &o->options.earlier[i];

			if (rank >= e->count)
				continue;
			memcpy(point, e->points + rank * o->space->count, o->space->count * sizeof(*point));
			if (!tune_is_tried(o, point))
				return true;
		}
	return false;
}

int tune_design_point(const struct tune_optimizer *o, uint64_t id, double *point, struct sonde_err *err)
{
	struct stats_sobol sobol;
	struct stats_rng rng;
	double units[TUNE_PARAMS_MAX];

	tune_point_default(o->space, point);
	if (tune_point_is_allowed(o->space, point) && !tune_is_tried(o, point))
		return 0;
	if (earlier_point(o, point))
		return 0;
	stats_sobol_init(&sobol, o->space->count, o->options.seed);
	for (uint32_t i = 0; i < DESIGN_TRIES; i++) {
		stats_sobol_point(&sobol, (uint32_t)id + i, units);
		tune_point_from_units(o->space, units, point);
		if (tune_point_is_allowed(o->space, point) && !tune_is_tried(o, point))
			return 0;
	}
	stats_rng_init(&rng, o->options.seed, id);
	return tune_random_point(o, &rng, point, err);
}

static int propose_random(struct tune_optimizer *o, uint64_t id, double *point, struct arena *scratch,
		struct sonde_err *err)
{
	struct stats_rng rng;

	stats_rng_init(&rng, o->options.seed, id);
	return tune_random_point(o, &rng, point, err);
}

static int propose_sobol(struct tune_optimizer *o, uint64_t id, double *point, struct arena *scratch,
		struct sonde_err *err)
{
	return tune_design_point(o, id, point, err);
}

static const struct tune_method random_method = { "random", "independent random configurations", propose_random };
static const struct tune_method sobol_method = { "sobol", "the default, then configurations that fill the space evenly",
	propose_sobol };

const struct tune_method *const tune_methods[] = { &tune_method_gp, &tune_method_tpe, &tune_method_selftf,
	&sobol_method, &random_method, NULL };

const struct tune_method *tune_method_find(const char *name)
{
	for (size_t i = 0; tune_methods[i]; i++)
		if (strcmp(tune_methods[i]->name, name) == 0)
			return tune_methods[i];
	return NULL;
}

/*
 * The recommendation is the configuration with the lowest expected cost, not the best measurement. With noise the
 * best of many measurements is too optimistic; the model also uses neighbouring trials.
 */

#define Z95 1.95996398454005423552

/* Good, and not the excluded configuration. */
static bool is_eligible(const struct tune_optimizer *o, const struct tune_trial *t, const double * not )
{
	return tune_trial_is_good(o, t) && !(not &&tune_point_equal(o->space, t->point, not ));
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

static void find_best_expected(const struct tune_optimizer *o, const struct tune_model *m, const double * not,
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
	/* Without a model: the best measurement. */
	for (size_t t = 0; t < o->count; t++) {
		const struct tune_trial *trial = &o->trials[t];

		if (!is_eligible(o, trial, than))
			continue;
		if (!best->trial || tune_cost(o, trial, 0) < tune_cost(o, best->trial, 0))
			best->trial = trial;
	}
	if (!best->trial)
		return 0;
	best->value = best->trial->result.values[0];
	for (size_t t = 0; t < o->count; t++)
		cost[t] = o->trials[t].result.state == TUNE_DONE || o->trials[t].result.state == TUNE_CUT
				? tune_cost(o, &o->trials[t], 0)
				: NAN;
	rc = tune_model_fit(m, o, &how, scratch, err);
	if (rc == -ENODATA)
		return 0;
	if (rc == 0)
		find_best_expected(o, m, than, best);
	return rc;
}

int tune_recommend(struct tune_optimizer *o, struct tune_best *best, struct arena *scratch, struct sonde_err *err)
{
	return tune_recommend_other(o, NULL, best, scratch, err);
}
