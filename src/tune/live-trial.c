#include "tune/live-trial.h"

#include "base/clock.h"
#include "record/annotation-listener.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

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

static int begin_again(struct tune_live *l)
{
	struct sonde_knob_init wishes[SONDE_KNOBS_MAX];
	size_t count = tune_wishes(&l->run.study->space, l->point, wishes);

	announce_pass(l->run.announce);
	l->run.step_count = 0;
	l->is_taken_up = false;
	l->is_deaf = announce_set_knobs(l->run.announce, wishes, count) == 0;
	return 0;
}

int tune_live_begin(struct tune_live *l, const struct tune_study *study, const double *point, uint64_t id,
		const char *dir, struct sonde_err *err)
{
	l->run.study = study;
	l->point = point;
	l->id = id;
	l->starts = 0;
	l->begun_ns = clock_mono_ns();
	l->is_deaf = false;
	return l->is_running && !job_has_ended(l->run.job) ? begin_again(l) : start(l, dir, err);
}

/* Have all processes with these knobs read them since? */
static void look_at_knobs(struct tune_live *l)
{
	struct sonde_knob_init wishes[SONDE_KNOBS_MAX];
	size_t count = tune_wishes(&l->run.study->space, l->point, wishes);

	if (l->is_taken_up || announce_open_knobs(l->run.announce, wishes, count) > 0)
		return;
	l->is_taken_up = true;
	l->from = l->run.step_count;
}

static double mean_of_steps(const struct tune_run *r, size_t from)
{
	double sum = 0;

	for (size_t i = from; i < r->step_count; i++)
		sum += r->steps[i].value;
	return sum / (double)(r->step_count - from);
}

static void measure(const struct tune_live *l, double *values, char *why)
{
	const struct tune_study *s = l->run.study;
	size_t from = l->from + (size_t)s->settle;

	for (size_t k = 0; k < s->objective_count; k++) {
		values[k] = s->objectives[k].metric.source == TUNE_RATE ? tune_rate(&l->run, from)
									: mean_of_steps(&l->run, from + 1);
		if (!isfinite(values[k]))
			snprintf(why, TUNE_WHY, "no value for '%s'", s->objectives[k].metric.name);
	}
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

	*why = '\0';
	if (rc < 0)
		return rc;
	if (l->is_deaf) {
		snprintf(why, TUNE_WHY, "the program has not read any of its knobs");
		return 1;
	}
	look_at_knobs(l);
	if (l->is_taken_up && l->run.step_count >= l->from + needed) {
		l->run.step_count = l->from + needed; /* exactly the measurement window */
		measure(l, values, why);
		return 1;
	}
	if (has_ended || (s->timeout_ns && clock_mono_ns() - l->begun_ns > s->timeout_ns))
		return end(l, dir, why, err);
	return 0;
}

void tune_live_stop(struct tune_live *l)
{
	if (l->is_running)
		tune_run_release(&l->run);
	l->is_running = false;
}
