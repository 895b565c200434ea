/*
 * One paired run of best and default, for the confirmation; see trial-slot.h.
 */
#include "base/clock.h"
#include "tune/launcher.h"
#include "tune/trial-slot.h"

#include <errno.h>
#include <stdio.h>
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
	int rc = tune_live_begin(&d->live, d->study, point, 0, tune_live_dir(d, dir, sizeof(dir)), err);

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

int tune_run_pair(struct tune_drive *d, const double *best, const double *start, bool is_default_first,
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
