#include "tune/study-run.h"

#include "base/clock.h"
#include "base/fs.h"
#include "record/annotation-listener.h"
#include "tune/trial-slot.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

enum { STARTS_MAX = 2 };

static int start(struct tune_live *l, const char *dir, struct sonde_err *err)
{
	const struct tune_study *study = l->run.study;
	int rc = tune_run_start(&l->run, study, l->point, l->id, dir, err);

	l->starts++;
	l->is_running = rc == 0;
	l->is_taken_up = true; /* initial values need no update */
	l->from = 0;
	if (rc < 0)
		tune_run_release(&l->run);
	return rc;
}

int tune_live_start(struct tune_live *l, const struct tune_study *study, const double *point, uint64_t id,
		const char *dir, struct sonde_err *err)
{
	struct sonde_knob_init wishes[SONDE_KNOBS_MAX];
	size_t count;

	l->run.study = study;
	l->point = point;
	l->id = id;
	l->starts = 0;
	l->begun_ns = clock_mono_ns();
	l->is_deaf = false;
	if (!l->is_running || job_has_ended(l->run.job))
		return start(l, dir, err);
	count = tune_knob_inits(&l->run.study->space, l->point, wishes);
	announce_pass(l->run.announce);
	l->run.step_count = 0;
	l->is_taken_up = false;
	l->is_deaf = announce_set_knobs(l->run.announce, wishes, count) == 0;
	return 0;
}

static double mean_of_steps(const struct tune_run *r, size_t from)
{
	double sum = 0;

	for (size_t i = from; i < r->step_count; i++)
		sum += r->steps[i].value;
	return sum / (double)(r->step_count - from);
}

/* The program has exited, or must be killed: restart it, or report a failure. */
static int end(struct tune_live *l, const char *dir, char *why, struct sonde_err *err)
{
	bool is_late = !job_has_ended(l->run.job);
	bool has_failed = !is_late && job_status(l->run.job) != 0;
	int rc = tune_run_finish(&l->run, err);

	l->is_running = false;
	if (rc == 0 && (is_late || has_failed || l->starts >= STARTS_MAX))
		snprintf(why, TUNE_WHY, "%s",
				is_late                      ? "too few steps within the window's time limit"
						: has_failed ? l->run.why
							     : "it ended before the window was complete");
	tune_run_release(&l->run);
	if (rc < 0 || *why)
		return rc < 0 ? rc : 1;
	return start(l, dir, err);
}

int tune_live_turn(struct tune_live *l, const char *dir, double *values, char *why, struct sonde_err *err)
{
	const struct tune_study *s = l->run.study;
	size_t needed = (size_t)s->settle + 1 + (size_t)s->window;
	bool has_ended = job_wait(l->run.job, 0, err) == 0;
	int rc = tune_run_poll(&l->run, err);
	struct sonde_knob_init wishes[SONDE_KNOBS_MAX];
	size_t count;

	*why = '\0';
	if (rc < 0)
		return rc;
	if (l->is_deaf) {
		snprintf(why, TUNE_WHY, "the program has not read any of its knobs");
		return 1;
	}
	/* Have all processes with these knobs read them since? */
	count = tune_knob_inits(&l->run.study->space, l->point, wishes);
	if (!(l->is_taken_up || announce_open_knobs(l->run.announce, wishes, count) > 0)) {
		l->is_taken_up = true;
		l->from = l->run.step_count;
	}
	if (l->is_taken_up && l->run.step_count >= l->from + needed) {
		size_t first = l->from + (size_t)s->settle;

		l->run.step_count = l->from + needed; /* exactly the measurement window */
		for (size_t k = 0; k < s->objective_count; k++) {
			values[k] = s->objectives[k].metric.source == TUNE_RATE ? tune_rate(&l->run, first)
										: mean_of_steps(&l->run, first + 1);
			if (!isfinite(values[k]))
				snprintf(why, TUNE_WHY, "no value for '%s'", s->objectives[k].metric.name);
		}
		return 1;
	}
	if (has_ended || (s->timeout_ns && clock_mono_ns() - l->begun_ns > s->timeout_ns))
		return end(l, dir, why, err);
	return 0;
}

/* ends the program; accepts zeroed memory */
static void live_stop(struct tune_live *l)
{
	if (l->is_running)
		tune_run_release(&l->run);
	l->is_running = false;
}

enum { HOPELESS_TRIALS = 5, TURN_MS = 50, LIVE_TURN_MS = 5 };

struct driver {
	struct tune_drive *d;
	struct tune_slot *slots;
	size_t slot_count;
	int64_t end_ns; /* end of the time budget; INT64_MAX: none */
};

bool tune_is_interrupted(const struct tune_drive *d)
{
	return d->is_interrupted && *d->is_interrupted;
}

size_t tune_count_state(const struct tune_optimizer *o, enum tune_state state)
{
	size_t n = 0;

	for (size_t t = 0; t < o->count; t++)
		n += o->trials[t].result.state == state;
	return n;
}

/* A pending trial that no slot runs: left by a crash. */
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

static bool is_spent(const struct driver *v)
{
	return (int64_t)v->d->o->count >= v->d->study->trials || clock_mono_ns() >= v->end_ns;
}

/* The next trial to run; NULL if there are none left. */
static int next_trial(struct driver *v, const struct tune_trial **trial, struct sonde_err *err)
{
	struct tune_drive *d = v->d;
	int rc;

	*trial = orphan(v);
	if (*trial)
		return 0;
	if (is_spent(v))
		return 0;
	rc = tune_ask(d->o, trial, err);
	return rc < 0 ? rc : tune_journal_ask(d->journal, d->o, *trial, err);
}

/* Fails if the study cannot succeed: the command cannot be executed, or no trial has ever succeeded. */
static int check_hope(const struct driver *v, const char *why, struct sonde_err *err)
{
	const struct tune_optimizer *o = v->d->o;
	size_t failed = tune_count_state(o, TUNE_FAILED), pending = tune_count_state(o, TUNE_PENDING);
	bool is_last = !pending && is_spent(v);

	if (failed + pending < o->count || (failed < HOPELESS_TRIALS && !is_last))
		return 0;
	err_set(err, EIO, "all of the first %zu trials failed; the last: %s", failed, why);
	err_hint(err, "see '%s'; fix it and run again with --retry", v->d->dir);
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
		rc = tune_journal_tell(d->journal, d->o, t, s->why, err);
	if (rc == 0 && t && t->result.state != TUNE_FAILED) {
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

/* Returns 1 while a trial runs, 0 when all are finished. */
static int fill_slots(struct driver *v, struct sonde_err *err)
{
	const struct tune_trial *trial;
	int busy = 0, rc;

	for (size_t i = 0; i < v->slot_count; i++) {
		if (!v->slots[i].id && !tune_is_interrupted(v->d)) {
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
		struct pollfd fds[2 * TUNE_PARALLEL_MAX];
		nfds_t n = 0;

		rc = fill_slots(v, err);
		if (rc <= 0 || tune_is_interrupted(v->d))
			break;
		/* Waits until a run has ended, or until deadlines and steps have to be checked. */
		for (size_t i = 0; i < v->slot_count; i++) {
			const struct tune_slot *s = &v->slots[i];

			if (s->id && s->run.job)
				fds[n++] = (struct pollfd){ .fd = job_pidfd(s->run.job), .events = POLLIN };
			if (s->id && s->has_beside && s->beside.job)
				fds[n++] = (struct pollfd){ .fd = job_pidfd(s->beside.job), .events = POLLIN };
		}
		poll(fds, n, v->d->study->window ? LIVE_TURN_MS : n ? TURN_MS : 0);
		rc = turn_slots(v, err);
		if (rc < 0)
			break;
	}
	for (size_t i = 0; i < v->slot_count; i++)
		if (v->slots[i].id)
			tune_slot_stop(&v->slots[i]);
	return rc < 0 ? rc : 0;
}

static bool wants_proof(const struct tune_drive *d, const struct tune_outcome *out)
{
	return out->best.trial && out->start && out->start->result.state == TUNE_DONE &&
			d->study->objective_count == 1 && d->study->confirm > 0 && !tune_is_interrupted(d) &&
			!tune_point_equal(d->o->space, out->best.trial->point, out->start->point);
}

int tune_drive(struct tune_drive *d, struct tune_outcome *out, struct arena *arena, struct sonde_err *err)
{
	struct driver v = { .d = d,
		.slot_count = d->is_paired || d->study->window ? 1 : (size_t)d->study->parallel,
		.end_ns = INT64_MAX };
	int rc = fs_mkdir_p(d->dir, 0700, err);

	if (rc < 0)
		return rc;
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
		rc = tune_prove(d, out, err);
		if (rc == 0)
			rc = tune_conclude(d, out, arena, err);
	}
	live_stop(&d->live);
	return rc;
}
