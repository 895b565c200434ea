/*
 * drive: see drive.h.
 */
#include "tune/drive.h"

#include "base/clock.h"
#include "base/fs.h"
#include "tune/slot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_MAX = 64, HOPELESS_TRIALS = 5, TURN_MS = 50 };

struct driver {
	struct tune_drive *d;
	struct tune_slot *slots;
	size_t slot_count;
	int64_t end_ns; /* of the budget; INT64_MAX: none */
};

static bool is_interrupted(const struct tune_drive *d)
{
	return d->is_interrupted && *d->is_interrupted;
}

static size_t count_state(const struct tune_optimizer *o, enum tune_state state)
{
	size_t n = 0;

	for (size_t t = 0; t < o->count; t++)
		n += o->trials[t].result.state == state;
	return n;
}

/* Some trial, in any state but running, that nobody runs: one that a crash left behind. */
static struct tune_trial *orphan(const struct driver *v)
{
	for (size_t t = 0; t < v->d->o->count; t++) {
		struct tune_trial *trial = &v->d->o->trials[t];
		bool is_running = trial->result.state != TUNE_PENDING;

		for (size_t i = 0; i < v->slot_count && !is_running; i++)
			is_running = v->slots[i].id == trial->id;
		if (!is_running)
			return trial;
	}
	return NULL;
}

/* The next trial to run; NULL when there is none any more. */
static int next_trial(struct driver *v, const struct tune_trial **trial, struct sonde_err *err)
{
	struct tune_drive *d = v->d;
	int rc;

	*trial = orphan(v);
	if (*trial)
		return 0;
	if ((int64_t)d->o->count >= d->study->trials || clock_mono_ns() >= v->end_ns)
		return 0;
	rc = tune_ask(d->o, trial, err);
	return rc < 0 ? rc : tune_journal_ask(d->journal, d->o, *trial, err);
}

/* A study that nobody can help: the command does not run at all, or nothing has ever worked. */
static int check_hope(const struct driver *v, const char *why, struct sonde_err *err)
{
	const struct tune_optimizer *o = v->d->o;
	size_t failed = count_state(o, TUNE_FAILED);

	if (failed < HOPELESS_TRIALS || failed < o->count - count_state(o, TUNE_PENDING))
		return 0;
	err_set(err, EIO, "all of the first %zu trials failed; the last: %s", failed, why);
	err_hint(err, "look at '%s'; when it is mended, delete '%s/../journal.jsonl' and start again", v->d->dir,
			v->d->dir);
	return -EIO;
}

static int finish_trial(struct driver *v, struct tune_slot *s, struct sonde_err *err)
{
	struct tune_drive *d = v->d;
	struct tune_trial *t;
	char dir[4096];
	int rc = tune_tell(d->o, s->id, &s->result, err);

	t = tune_find(d->o, s->id);
	d->has_run |= t && t->result.state == TUNE_DONE;
	if (rc == 0)
		rc = tune_journal_tell(d->journal, d->o, t, s->why, s->wall_s, err);
	if (rc == 0 && t->result.state != TUNE_FAILED) {
		snprintf(dir, sizeof(dir), "%s/%" PRIu64, d->dir, s->id);
		fs_remove_tree(AT_FDCWD, dir);
		snprintf(dir, sizeof(dir), "%s/%" PRIu64 "-beside", d->dir, s->id);
		fs_remove_tree(AT_FDCWD, dir);
	}
	if (rc == 0 && d->show)
		d->show(d->arg, t, s->why);
	s->id = 0;
	return rc < 0 ? rc : check_hope(v, s->why, err);
}

/* 1 when something runs, 0 when all is done. */
static int fill_slots(struct driver *v, struct sonde_err *err)
{
	const struct tune_trial *trial;
	int busy = 0, rc;

	for (size_t i = 0; i < v->slot_count; i++) {
		if (!v->slots[i].id && !is_interrupted(v->d)) {
			rc = next_trial(v, &trial, err);
			if (rc == 0 && trial)
				rc = tune_slot_start(&v->slots[i], v->d, trial, err);
			if (rc < 0)
				return rc;
		}
		busy |= v->slots[i].id != 0;
	}
	return busy;
}

/* Until something has ended, or it is time to look at deadlines and steps. */
static void await(const struct driver *v)
{
	struct pollfd fds[2 * SLOTS_MAX];
	nfds_t n = 0;

	for (size_t i = 0; i < v->slot_count; i++) {
		const struct tune_slot *s = &v->slots[i];

		if (s->id && s->run.job)
			fds[n++] = (struct pollfd){ .fd = job_pidfd(s->run.job), .events = POLLIN };
		if (s->id && s->has_beside && s->beside.job)
			fds[n++] = (struct pollfd){ .fd = job_pidfd(s->beside.job), .events = POLLIN };
	}
	poll(fds, n, n ? TURN_MS : 0);
}

static int turn_slots(struct driver *v, struct sonde_err *err)
{
	for (size_t i = 0; i < v->slot_count; i++) {
		int rc = v->slots[i].id ? tune_slot_turn(&v->slots[i], v->d, err) : 0;

		if (rc > 0)
			rc = finish_trial(v, &v->slots[i], err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int run_trials(struct driver *v, struct sonde_err *err)
{
	int rc;

	for (;;) {
		rc = fill_slots(v, err);
		if (rc <= 0 || is_interrupted(v->d))
			break;
		await(v);
		rc = turn_slots(v, err);
		if (rc < 0)
			break;
	}
	for (size_t i = 0; i < v->slot_count; i++)
		if (v->slots[i].id)
			tune_slot_stop(&v->slots[i]);
	return rc < 0 ? rc : 0;
}

static const struct tune_trial *default_trial(const struct tune_optimizer *o)
{
	double point[TUNE_PARAMS_MAX];

	tune_point_default(o->space, point);
	for (size_t t = 0; t < o->count; t++)
		if (tune_point_equal(o->space, o->trials[t].point, point))
			return &o->trials[t];
	return NULL;
}

static size_t pairs_of(const struct tune_journal *j, uint64_t id, double *logs)
{
	size_t n = 0;

	for (size_t i = 0; i < j->pair_count; i++)
		if (j->pairs[i].of == id && j->pairs[i].best > 0 && j->pairs[i].start > 0)
			logs[n++] = log(j->pairs[i].best / j->pairs[i].start);
	return n;
}

static void judge(const struct tune_drive *d, struct tune_outcome *out)
{
	bool is_maximized = d->o->options.is_maximized[0];

	if (out->ratio.n < 2 || !isfinite(out->ratio.lo) || !isfinite(out->ratio.hi))
		return;
	if (is_maximized ? out->ratio.lo > 1 : out->ratio.hi < 1)
		out->gain = TUNE_GAIN_PROVEN;
	else
		out->gain = TUNE_GAIN_NONE;
}

/* The first knob that runs of ours should have asked for and have not. */
static const char *unused_knob(const struct tune_drive *d)
{
	for (size_t i = 0; d->has_run && i < d->study->space.count; i++)
		if (d->study->space.params[i].knob && !(d->knobs_asked >> i & 1))
			return d->study->space.params[i].knob;
	return NULL;
}

static int measure_gain(const struct tune_drive *d, struct tune_outcome *out, struct arena *arena,
		struct sonde_err *err)
{
	double logs[TUNE_PAIRS_MAX];
	size_t first[TUNE_PAIRS_MAX + 1];
	struct stats_runs runs = { .x = logs, .first = first };
	struct stats_effect_options how = { .level = 0.95 };
	struct stats_effect effect;
	int rc;

	out->pairs = runs.count = pairs_of(d->journal, out->best.trial->id, logs);
	for (size_t i = 0; i <= runs.count; i++)
		first[i] = i;
	if (runs.count < 2)
		return 0;
	rc = stats_effect(&runs, &how, arena, &effect, err);
	if (rc == 0)
		out->ratio = effect.ratio;
	return rc;
}

int tune_conclude(const struct tune_drive *d, struct tune_outcome *out, struct arena *arena, struct sonde_err *err)
{
	int rc;

	memset(out, 0, sizeof(*out));
	out->ratio = stats_interval_open(NAN, 0, 0.95, "");
	out->done = count_state(d->o, TUNE_DONE);
	out->cut = count_state(d->o, TUNE_CUT);
	out->failed = count_state(d->o, TUNE_FAILED);
	out->start = default_trial(d->o);
	out->is_interrupted = is_interrupted(d);
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

/* Best and default in turn, the first alternating, until there are as many pairs as the study wants. */
static int prove(struct tune_drive *d, const struct tune_outcome *found, struct sonde_err *err)
{
	double logs[TUNE_PAIRS_MAX];
	size_t have = pairs_of(d->journal, found->best.trial->id, logs);
	char why[TUNE_WHY] = "";
	int rc = 0;

	for (; (int64_t)have < d->study->confirm && rc == 0 && !is_interrupted(d); have++) {
		struct tune_pair pair = { .of = found->best.trial->id };

		rc = tune_run_pair(d, found->best.trial->point, found->start->point, have % 2, &pair.best, &pair.start,
				why, err);
		if (rc == -ECANCELED || *why) {
			err_set(err, EIO, "the proof of the best against the default failed: %s", why);
			return -EIO;
		}
		if (rc == 0 && !(pair.best > 0 && pair.start > 0))
			return 0; /* no ratio: nothing to prove with */
		if (rc == 0)
			rc = tune_journal_pair(d->journal, &pair, err);
		if (rc == 0 && d->show)
			d->show(d->arg, NULL, "");
	}
	return rc == -EINTR ? 0 : rc;
}

static bool wants_proof(const struct tune_drive *d, const struct tune_outcome *out)
{
	return out->best.trial && out->start && out->start->result.state == TUNE_DONE &&
			d->study->objective_count == 1 && d->study->confirm > 0 && !is_interrupted(d) &&
			!tune_point_equal(d->o->space, out->best.trial->point, out->start->point);
}

int tune_drive(struct tune_drive *d, struct tune_outcome *out, struct arena *arena, struct sonde_err *err)
{
	struct driver v = { .d = d, .slot_count = d->is_paired ? 1 : (size_t)d->study->parallel, .end_ns = INT64_MAX };
	int rc = fs_mkdir_p(d->dir, 0700, err);

	if (rc < 0)
		return rc;
	if (v.slot_count > SLOTS_MAX)
		v.slot_count = SLOTS_MAX;
	if (d->study->budget_ns)
		v.end_ns = clock_mono_ns() + d->study->budget_ns;
	v.slots = calloc(v.slot_count, sizeof(*v.slots));
	if (!v.slots)
		return err_sys(err, ENOMEM, "cannot run the study");
	rc = run_trials(&v, err);
	free(v.slots);
	if (rc == 0)
		rc = tune_conclude(d, out, arena, err);
	if (rc == 0 && wants_proof(d, out)) {
		rc = prove(d, out, err);
		if (rc == 0)
			rc = tune_conclude(d, out, arena, err);
	}
	return rc;
}
