#include "tune/trial-slot.h"

#include "base/clock.h"
#include "base/fs.h"
#include "stats/summary.h"
#include "tune/launcher.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define CAP 1.5         /* maximum run time as a multiple of the best, plus twice the noise */
#define NOISE_USUAL 0.1 /* relative to the best, if there are no repeats to estimate it */
#define CAP_LEAST_S 0.5 /* minimum excess over the best at which cutting a run saves enough */
#define HOPELESS 1.5    /* a trial worse than the best by this factor is not repeated */

/* Does the objective grow with run time? */
static bool is_timed(const struct tune_study *study)
{
	enum tune_source source = study->objectives[0].metric.source;

	return study->objective_count == 1 && (source == TUNE_WALL || source == TUNE_TARGET) &&
			!study->objectives[0].is_maximized;
}

static double best_seen(const struct tune_optimizer *o)
{
	double best = INFINITY;

	for (size_t t = 0; t < o->count; t++)
		if (tune_trial_is_good(o, &o->trials[t]))
			best = fmin(best, tune_cost(o, &o->trials[t], 0));
	return best;
}

static int64_t deadline_of(const struct tune_drive *d, const struct tune_run *r, bool *is_cap)
{
	double best = best_seen(d->o), cap_s = fmax(CAP * best * (1 + 2 * NOISE_USUAL), best + CAP_LEAST_S);
	int64_t limit_ns = d->study->timeout_ns ? d->study->timeout_ns : INT64_MAX;

	*is_cap = false;
	if (d->study->launcher) /* it may wait in the batch queue: the timeout applies on the other host */
		return INT64_MAX;
	*is_cap = d->study->is_capped && is_timed(d->study) && !d->is_paired && isfinite(best) &&
			cap_s * 1e9 < (double)limit_ns;
	if (*is_cap)
		limit_ns = (int64_t)(cap_s * 1e9);
	return limit_ns == INT64_MAX ? INT64_MAX : r->start_ns + limit_ns;
}

static int start_one(struct tune_drive *d, struct tune_run *r, const double *point, uint64_t id, const char *name,
		struct sonde_err *err)
{
	char dir[4096];
	bool is_cap;
	int rc;

	snprintf(dir, sizeof(dir), "%s/%s", d->dir, name);
	rc = tune_run_start(r, d->study, point, id, dir, err);
	if (rc == 0)
		r->deadline_ns = deadline_of(d, r, &is_cap);
	return rc;
}

/* The reference trial of a paired study; NULL: none yet. */
static const struct tune_trial *reference(const struct tune_optimizer *o)
{
	for (size_t t = 0; t < o->count; t++)
		if (o->trials[t].result.state == TUNE_DONE && o->trials[t].result.beside == o->trials[t].id)
			return &o->trials[t];
	return NULL;
}

/*
 * Chooses the rival of a paired trial: the best of all others so far, at its expected level; the first trial has
 * none.
 */
static int choose_rival(struct tune_slot *s, struct tune_drive *d, struct sonde_err *err)
{
	struct arena scratch = ARENA_INIT;
	const struct tune_trial *rival = reference(d->o);
	struct tune_best best;
	int rc = tune_recommend_other(d->o, s->point, &best, &scratch, err);

	arena_release(&scratch);
	if (rc < 0)
		return rc;
	if (best.trial)
		rival = best.trial;
	s->rival = rival ? rival->point : NULL;
	s->rival_id = rival ? rival->id : s->id;
	s->level = best.trial ? best.value : 1;
	return 0;
}

static int start_repeat(struct tune_slot *s, struct tune_drive *d, struct sonde_err *err)
{
	char name[64];
	int rc;

	snprintf(name, sizeof(name), "%" PRIu64, s->id);
	rc = start_one(d, &s->run, s->point, s->id, name, err);
	s->rungs_seen = 0;
	if (rc < 0 || !s->rival)
		return rc;
	s->has_beside = true;
	snprintf(name, sizeof(name), "%" PRIu64 "-beside", s->id);
	rc = start_one(d, &s->beside, s->rival, s->id, name, err);
	if (rc == 0)
		s->cpu_swap = tune_cpu_swap(d, &s->run, &s->beside);
	return rc;
}

static void fail(struct tune_slot *s, const char *why)
{
	s->result = (struct tune_result){ .state = TUNE_FAILED };
	for (size_t k = 0; k < TUNE_OBJECTIVES_MAX; k++)
		s->result.values[k] = NAN;
	for (size_t k = 0; k < TUNE_LIMITS_MAX; k++)
		s->result.limits[k] = NAN;
	snprintf(s->why, sizeof(s->why), "%s", why);
}

static void release_runs(struct tune_slot *s)
{
	cpu_swap_stop(s->cpu_swap);
	s->cpu_swap = NULL;
	tune_run_release(&s->run);
	if (s->has_beside)
		tune_run_release(&s->beside);
	s->has_beside = false;
}

int tune_slot_start(struct tune_slot *s, struct tune_drive *d, const struct tune_trial *t, struct sonde_err *err)
{
	char dir[4096];
	int rc;

	memset(s, 0, sizeof(*s));
	s->id = t->id;
	s->point = t->point;
	if (d->study->window)
		return tune_live_start(&d->live, d->study, t->point, t->id, tune_live_dir(d, dir, sizeof(dir)), err);
	if (d->is_paired) {
		rc = choose_rival(s, d, err);
		if (rc < 0)
			return rc;
	}
	rc = start_repeat(s, d, err);
	if (rc == -ECANCELED)
		return 0; /* its preparation failed: the next turn reports it */
	if (rc < 0)
		release_runs(s);
	return rc;
}

/* Stops a run that is too slow, by time or by steps. */
static int watch(struct tune_slot *s, struct tune_drive *d, struct tune_run *r, struct sonde_err *err)
{
	bool is_maximized = tune_steps_rise(d->study);
	double rungs[TUNE_RUNGS_MAX];
	struct arena scratch = ARENA_INIT;
	bool is_cap;
	size_t count;
	int rc = tune_run_poll(r, err);

	if (rc < 0)
		return rc;
	if (r->is_enough)
		return 0;
	if (clock_mono_ns() >= r->deadline_ns) {
		deadline_of(d, r, &is_cap);
		r->is_cut = is_cap;
		r->is_timed_out = !is_cap;
		return 0;
	}
	count = tune_rungs(r->steps, r->step_count, is_maximized, rungs);
	if (count > s->rungs_seen && d->study->stop != TUNE_STOP_NONE) {
		s->rungs_seen = count;
		r->is_cut = tune_should_stop(d->study->stop, d->o, rungs, count, is_maximized, &scratch);
	}
	arena_release(&scratch);
	return 0;
}

static int turn_run(struct tune_slot *s, struct tune_drive *d, struct tune_run *r, bool *is_over, struct sonde_err *err)
{
	int rc = 0;

	*is_over = !r->job;
	if (*is_over)
		return 0;
	if (!job_has_ended(r->job))
		rc = watch(s, d, r, err);
	if (rc < 0)
		return rc;
	if (job_wait(r->job, 0, err) == 0 || r->is_cut || r->is_timed_out || r->is_enough) {
		rc = tune_run_finish(r, err);
		*is_over = true;
	}
	return rc;
}

/*
 * Computes the value from the rival's level and the ratio to it: both ran at the same time, so noise affects both
 * equally. Without a rival the trial is the reference.
 */
static bool add_ratio(struct tune_slot *s)
{
	double by = s->has_beside ? s->beside.values[0] : s->run.values[0];

	if (s->has_beside && *s->beside.why) {
		fail(s, "its paired run of the best configuration failed");
		return false;
	}
	if (!(s->run.values[0] > 0) || !(by > 0)) {
		fail(s, "a paired study needs values above 0");
		return false;
	}
	s->values[s->repeat][0] = s->level * s->run.values[0] / by;
	return true;
}

/* Adds the repeat that has ended; false if the trial is finished with a failure. */
static bool add_repeat(struct tune_slot *s, struct tune_drive *d)
{
	bool is_maximized = tune_steps_rise(d->study);
	double rungs[TUNE_RUNGS_MAX];

	if (*s->run.why) {
		fail(s, s->run.why);
		return false;
	}
	memcpy(s->values[s->repeat], s->run.values, sizeof(s->run.values));
	memcpy(s->limits[s->repeat], s->run.limits, sizeof(s->run.limits));
	s->result.rung_count = tune_rungs(s->run.steps, s->run.step_count, is_maximized, rungs);
	memcpy(s->result.rungs, rungs, sizeof(rungs));
	if (s->run.is_cut && is_timed(d->study)) {
		double best = best_seen(d->o);

		/* A run that was cut took at least the time until then, and is not better than the cap. */
		s->values[s->repeat][0] = isfinite(best) ? fmax(s->run.wall_s, CAP * best) : s->run.wall_s;
	} else if (s->run.is_cut && d->study->objectives[0].metric.source == TUNE_STEP) {
		const struct tune_result *r = &s->result;
		struct arena scratch = ARENA_INIT;
		double end = tune_expected_end(d->o, r->rungs, r->rung_count, tune_steps_rise(d->study), &scratch);

		/* A stopped trial would have improved after its last step, as others did. */
		arena_release(&scratch);
		s->values[s->repeat][0] = isfinite(end) ? end : s->run.values[0];
	}
	if (d->is_paired && !add_ratio(s))
		return false;
	s->result.wall_s += s->run.wall_s;
	d->knobs_asked |= s->run.knobs_asked;
	s->is_cut |= s->run.is_cut;
	s->repeat++;
	return true;
}

static bool wants_repeat(const struct tune_slot *s, const struct tune_drive *d)
{
	double best = best_seen(d->o), cost = s->values[s->repeat - 1][0];

	if (s->repeat >= (size_t)d->study->repeats || s->is_cut)
		return false;
	cost = d->o->options.is_maximized[0] ? -cost : cost;
	return d->study->objective_count > 1 || !isfinite(best) || !(best > 0) || cost < HOPELESS * best;
}

/* The mean of two repeats, the median of more. */
static double middle(const struct tune_slot *s, const double *first, size_t stride)
{
	double all[TUNE_REPEATS_MAX];

	for (size_t i = 0; i < s->repeat; i++)
		all[i] = first[i * stride];
	return stats_median(all, s->repeat);
}

static void conclude(struct tune_slot *s)
{
	for (size_t k = 0; k < TUNE_OBJECTIVES_MAX; k++)
		s->result.values[k] = middle(s, &s->values[0][k], TUNE_OBJECTIVES_MAX);
	for (size_t k = 0; k < TUNE_LIMITS_MAX; k++)
		s->result.limits[k] = middle(s, &s->limits[0][k], TUNE_LIMITS_MAX);
	s->result.repeats = (unsigned)s->repeat;
	s->result.beside = s->rival_id;
	s->result.ratio = s->result.values[0] / s->level;
	s->result.state = s->is_cut ? TUNE_CUT : TUNE_DONE;
}

/* A measurement window of the running program. */
static int turn_live(struct tune_slot *s, struct tune_drive *d, struct sonde_err *err)
{
	char dir[4096], why[TUNE_WHY];
	int rc = tune_live_turn(&d->live, tune_live_dir(d, dir, sizeof(dir)), s->values[s->repeat], why, err);

	if (rc <= 0)
		return rc;
	for (size_t k = 0; k < TUNE_LIMITS_MAX; k++)
		s->limits[s->repeat][k] = NAN;
	if (*why) {
		fail(s, why);
		return 1;
	}
	s->repeat++;
	if (wants_repeat(s, d)) {
		rc = tune_live_start(&d->live, d->study, s->point, s->id, dir, err);
		return rc < 0 ? rc : 0;
	}
	s->result.wall_s = (double)(clock_mono_ns() - d->live.begun_ns) * 1e-9;
	conclude(s);
	return 1;
}

int tune_slot_turn(struct tune_slot *s, struct tune_drive *d, struct sonde_err *err)
{
	bool is_over, is_beside_over = true;
	int rc;

	if (d->study->window)
		return turn_live(s, d, err);

	if (*s->run.why && !s->run.job && !s->repeat && !s->has_beside) { /* its preparation failed */
		fail(s, s->run.why);
		release_runs(s);
		return 1;
	}
	rc = turn_run(s, d, &s->run, &is_over, err);
	if (rc == 0 && s->has_beside)
		rc = turn_run(s, d, &s->beside, &is_beside_over, err);
	if (rc < 0 || !is_over || !is_beside_over)
		return rc;
	if (add_repeat(s, d) && wants_repeat(s, d)) {
		release_runs(s);
		rc = start_repeat(s, d, err);
		return rc == -ECANCELED ? 0 : rc;
	}
	if (s->result.state != TUNE_FAILED)
		conclude(s);
	release_runs(s);
	return 1;
}

void tune_slot_stop(struct tune_slot *s)
{
	release_runs(s);
	s->id = 0;
}

enum { OTHERS_MIN = 5, ASHA_FIRST = 2, ASHA_SHARE = 3 };

size_t tune_rungs(const struct tune_step *steps, size_t count, bool is_maximized, double *rungs)
{
	double best = INFINITY;
	size_t n = 0;

	for (size_t i = 0; i < count && n < TUNE_RUNGS_MAX; i++) {
		double cost = is_maximized ? -steps[i].value : steps[i].value;

		best = fmin(best, cost);
		if (i + 1 == (size_t)1 << n)
			rungs[n++] = is_maximized ? -best : best;
	}
	return n;
}

/* The costs of the other trials at this rung. */
static size_t others_at(const struct tune_optimizer *o, size_t rung, bool is_maximized, double *costs)
{
	size_t n = 0;

	for (size_t t = 0; t < o->count; t++) {
		const struct tune_result *r = &o->trials[t].result;

		if (r->state != TUNE_PENDING && r->rung_count > rung && isfinite(r->rungs[rung]))
			costs[n++] = is_maximized ? -r->rungs[rung] : r->rungs[rung];
	}
	return n;
}

double tune_expected_end(const struct tune_optimizer *o, const double *rungs, size_t count, bool is_maximized,
		struct arena *scratch)
{
	double *came = arena_alloc(scratch, (o->count + 1) * sizeof(*came)), best = INFINITY, end;
	size_t n = 0;

	for (size_t t = 0; came && count && t < o->count; t++) {
		const struct tune_result *r = &o->trials[t].result;

		if (r->state != TUNE_DONE || r->rung_count < count || !isfinite(r->rungs[count - 1]))
			continue;
		came[n++] = r->values[0] - r->rungs[count - 1];
		best = fmin(best, is_maximized ? -r->values[0] : r->values[0]);
	}
	if (!n)
		return NAN;
	end = rungs[count - 1] + stats_median(came, n);
	return is_maximized ? fmin(end, -best) : fmax(end, best);
}

bool tune_should_stop(enum tune_stop rule, const struct tune_optimizer *o, const double *rungs, size_t count,
		bool is_maximized, struct arena *scratch)
{
	double *costs = arena_alloc(scratch, (o->count + 1) * sizeof(*costs)), own;
	size_t n;

	if (rule == TUNE_STOP_NONE || !count || !costs)
		return false;
	n = others_at(o, count - 1, is_maximized, costs);
	own = is_maximized ? -rungs[count - 1] : rungs[count - 1];
	if (isnan(own))
		return true;
	if (rule == TUNE_STOP_MEDIAN)
		return n >= OTHERS_MIN && own > stats_median(costs, n);
	if (count - 1 < ASHA_FIRST || (count - 1) % 2 || n + 1 < ASHA_SHARE)
		return false;
	return own > stats_quantile(costs, n, 1.0 / ASHA_SHARE);
}
