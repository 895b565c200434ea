/*
 * Confirmation: best against default, and the outcome of a study; see study-run.h.
 */
#include "base/clock.h"
#include "tune/launcher.h"
#include "tune/trial-slot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

const char *tune_live_dir(const struct tune_drive *d, char *dir, size_t size)
{
	snprintf(dir, size, "%s/live", d->dir);
	return dir;
}

struct cpu_swap *tune_cpu_swap(const struct tune_drive *d, const struct tune_run *a, const struct tune_run *b)
{
	pid_t jobs[2] = { a->job ? job_pid(a->job) : 0, b->job ? job_pid(b->job) : 0 };

	return jobs[0] > 0 && jobs[1] > 0 && !d->study->launcher ? cpu_swap_start(jobs) : NULL;
}

static int run_to_end(struct tune_drive *d, struct tune_run *r, struct sonde_err *err)
{
	int64_t until = d->study->timeout_ns && !d->study->launcher ? r->start_ns + d->study->timeout_ns : INT64_MAX;
	int rc;

	do {
		tune_launcher_beat(r);
		rc = job_wait(r->job, clock_mono_ns() + 100000000 < until ? clock_mono_ns() + 100000000 : until, err);
	} while (rc == -ETIMEDOUT && clock_mono_ns() < until && !(d->is_interrupted && *d->is_interrupted));
	if (rc == -ETIMEDOUT && d->is_interrupted && *d->is_interrupted)
		return -EINTR;
	if (rc < 0 && rc != -ETIMEDOUT)
		return rc;
	r->is_timed_out = rc == -ETIMEDOUT;
	return tune_run_finish(r, err);
}

/* Starts one; waits for it unless both run at the same time. */
static int run_side(struct tune_drive *d, struct tune_run *r, const double *point, bool is_best, struct sonde_err *err)
{
	char dir[4096];
	int rc;

	snprintf(dir, sizeof(dir), "%s/%s", d->dir, is_best ? "best" : "default");
	rc = tune_run_start(r, d->study, point, 0, dir, err);
	return rc < 0 || d->is_paired ? rc : run_to_end(d, r, err);
}

/* Runs one measurement window to its end, for the confirmation. */
static int live_window(struct tune_drive *d, const double *point, double *value, char *why, struct sonde_err *err)
{
	const struct timespec pause = { .tv_nsec = 5000000 };
	double values[TUNE_OBJECTIVES_MAX];
	char dir[4096];
	int rc = tune_live_start(&d->live, d->study, point, 0, tune_live_dir(d, dir, sizeof(dir)), err);

	while (rc == 0 && (rc = tune_live_turn(&d->live, dir, values, why, err)) == 0) {
		if (d->is_interrupted && *d->is_interrupted)
			return -EINTR;
		nanosleep(&pause, NULL);
	}
	*value = values[0];
	return rc < 0 ? rc : 0;
}

static int live_pair(struct tune_drive *d, const double *const points[2], bool is_default_first, double *values[2],
		char *why, struct sonde_err *err)
{
	int rc = 0;

	*why = '\0';
	for (int i = 0; i < 2 && rc == 0 && !*why; i++)
		rc = live_window(d, points[i ^ is_default_first], values[i ^ is_default_first], why, err);
	return rc;
}

/*
 * For the confirmation: runs both, in sequence or, in a paired study, at the same time; returns their values of the
 * first objective.
 */
static int run_pair(struct tune_drive *d, const double *best, const double *start, bool is_default_first,
		double *best_value, double *start_value, char *why, struct sonde_err *err)
{
	struct tune_run runs[2] = { { .output_fd = -1 }, { .output_fd = -1 } }; /* best, default */
	const double *points[2] = { best, start };
	struct cpu_swap *cpu_swap = NULL;
	int rc = 0;

	if (d->study->window)
		return live_pair(d, points, is_default_first, (double *[2]){ best_value, start_value }, why, err);

	for (int i = 0; i < 2 && rc == 0; i++) {
		int side = i ^ is_default_first;

		rc = run_side(d, &runs[side], points[side], side == 0, err);
	}
	if (rc == 0 && d->is_paired)
		cpu_swap = tune_cpu_swap(d, &runs[0], &runs[1]);
	for (int i = 0; i < 2 && rc == 0 && d->is_paired; i++)
		rc = run_to_end(d, &runs[i], err);
	cpu_swap_stop(cpu_swap);
	*best_value = runs[0].values[0];
	*start_value = runs[1].values[0];
	snprintf(why, TUNE_WHY, "%s", *runs[0].why ? runs[0].why : runs[1].why);
	for (int i = 0; i < 2; i++)
		tune_run_release(&runs[i]);
	return rc;
}

enum { FAILURES_MAX = 3 }; /* failed pairs, then the confirmation fails */

static const struct tune_trial *default_trial(const struct tune_optimizer *o)
{
	double point[TUNE_PARAMS_MAX];

	tune_point_default(o->space, point);
	for (size_t t = 0; t < o->count; t++)
		if (tune_point_equal(o->space, o->trials[t].point, point))
			return &o->trials[t];
	return NULL;
}

/* The pairs of that best: logarithms of ratios, or differences where a ratio is not defined. */
static size_t pairs_of(const struct tune_journal *j, uint64_t id, double *x, bool *is_difference)
{
	size_t n = 0;

	*is_difference = false;
	for (size_t i = 0; i < j->pair_count; i++)
		*is_difference |= j->pairs[i].of == id && !(j->pairs[i].best > 0 && j->pairs[i].start > 0);
	for (size_t i = 0; i < j->pair_count; i++)
		if (j->pairs[i].of == id)
			x[n++] = *is_difference ? j->pairs[i].best - j->pairs[i].start
						: log(j->pairs[i].best / j->pairs[i].start);
	return n;
}

/* The first knob that the trials' programs should have read and have not. */
static const char *unused_knob(const struct tune_drive *d)
{
	for (size_t i = 0; d->has_run && !d->study->window && i < d->study->space.count; i++)
		if (d->study->space.params[i].knob && !(d->knobs_asked >> i & 1))
			return d->study->space.params[i].knob;
	return NULL;
}

static int measure_gain(const struct tune_drive *d, struct tune_outcome *out, struct arena *arena,
		struct sonde_err *err)
{
	double x[TUNE_PAIRS_MAX];
	size_t first[TUNE_PAIRS_MAX + 1];
	struct stats_runs runs = { .x = x, .first = first };
	struct stats_effect_options how = { .level = 0.95 };
	struct stats_effect effect;
	int rc;

	out->pairs = runs.count = pairs_of(d->journal, out->best.trial->id, x, &out->is_difference);
	for (size_t i = 0; i <= runs.count; i++)
		first[i] = i;
	if (runs.count < 2)
		return 0;
	rc = stats_effect(&runs, &how, arena, &effect, err);
	if (rc == 0 && out->is_difference)
		out->difference = effect.log_ratio;
	else if (rc == 0)
		out->ratio = effect.ratio;
	return rc;
}

int tune_conclude(const struct tune_drive *d, struct tune_outcome *out, struct arena *arena, struct sonde_err *err)
{
	const struct stats_interval *gain;
	double none;
	int rc;

	memset(out, 0, sizeof(*out));
	out->ratio = out->difference = stats_interval_open(NAN, 0, 0.95, "");
	out->proof_why = d->proof_why;
	out->done = tune_count_state(d->o, TUNE_DONE);
	out->cut = tune_count_state(d->o, TUNE_CUT);
	out->failed = tune_count_state(d->o, TUNE_FAILED);
	out->start = default_trial(d->o);
	out->is_interrupted = tune_is_interrupted(d);
	out->knob = unused_knob(d);
	rc = tune_recommend(d->o, &out->best, arena, err);
	if (rc < 0 || !out->best.trial || d->study->objective_count > 1)
		return rc;
	if (out->start && tune_point_equal(d->o->space, out->start->point, out->best.trial->point)) {
		out->gain = TUNE_GAIN_NONE;
		return 0;
	}
	rc = measure_gain(d, out, arena, err);
	/* Confirmed or refuted when the interval is known: its whole must be on the better side of no change. */
	gain = out->is_difference ? &out->difference : &out->ratio;
	none = out->is_difference ? 0 : 1;
	if (out->pairs >= 2 && isfinite(gain->lo) && isfinite(gain->hi))
		out->gain = (d->o->options.is_maximized[0] ? gain->lo > none : gain->hi < none) ? TUNE_GAIN_PROVEN
												: TUNE_GAIN_NONE;
	return rc;
}

/* Runs best and default alternately, swapping the order each time, until the study has its number of pairs. */
int tune_prove(struct tune_drive *d, const struct tune_outcome *found, struct sonde_err *err)
{
	double x[TUNE_PAIRS_MAX];
	bool is_difference;
	size_t have = pairs_of(d->journal, found->best.trial->id, x, &is_difference), failures = 0;
	int rc = 0;

	while ((int64_t)have < d->study->confirm && failures < FAILURES_MAX && rc == 0 && !tune_is_interrupted(d)) {
		struct tune_pair pair = { .of = found->best.trial->id };
		char why[TUNE_WHY] = "";

		rc = run_pair(d, found->best.trial->point, found->start->point, have % 2, &pair.best, &pair.start, why,
				err);
		if (rc == -ECANCELED || (rc == 0 && *why)) { /* a run failed: tolerated up to FAILURES_MAX times */
			snprintf(d->proof_why, sizeof(d->proof_why), "%s", *why ? why : "its preparation failed");
			failures++;
			rc = 0;
			continue;
		}
		if (rc == 0)
			rc = tune_journal_pair(d->journal, &pair, err);
		have += rc == 0;
		if (rc == 0 && d->show)
			d->show(d->arg, NULL, "");
	}
	return rc == -EINTR ? 0 : rc;
}
