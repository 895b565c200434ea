/*
 * Confirmation: best against default, and the outcome of a study; see study-run.h.
 */
#include "tune/trial-slot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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

static void judge(const struct tune_drive *d, struct tune_outcome *out)
{
	const struct stats_interval *i = out->is_difference ? &out->difference : &out->ratio;
	double none = out->is_difference ? 0 : 1;

	if (out->pairs < 2 || !isfinite(i->lo) || !isfinite(i->hi))
		return;
	out->gain = (d->o->options.is_maximized[0] ? i->lo > none : i->hi < none) ? TUNE_GAIN_PROVEN : TUNE_GAIN_NONE;
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
	judge(d, out);
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

		rc = tune_run_pair(d, found->best.trial->point, found->start->point, have % 2, &pair.best, &pair.start,
				why, err);
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
