/*
 * trial-run: one execution of the program under one configuration, and its measurements.
 *
 * Values are passed to the program as the study defines: {name} in the words of the command and in
 * file templates, separate arguments, environment variables, knobs. {dir} is the run's directory,
 * {build} the output of `prepare` (below) and {id} the trial's number. Output goes to files
 * in that directory. No shell is involved.
 */
#ifndef SONDE_TUNE_TRIAL_RUN_H
#define SONDE_TUNE_TRIAL_RUN_H

#include "base/buf.h"
#include "launch/job.h"
#include "live/board-reader.h"
#include "tune/study.h"

_Static_assert(TUNE_PARAMS_MAX <= 64, "knobs_asked has a bit a parameter");

enum { TUNE_STEPS_MAX = 100000, TUNE_WHY = 300 };

struct tune_step {
	int64_t index;
	int64_t at_ns; /* CLOCK_MONOTONIC; of steps in the output: when they were read */
	double value;
};

/* The value of a metric over the boards of all its processes. */
struct tune_kept {
	uint32_t kind; /* enum sonde_metric_kind; 0: not found */
	double sum, last;
	uint64_t count, ticks;
	struct live_rate rate; /* of a rate */
};

struct tune_run {
	const struct tune_study *study;
	const double *point;
	uint64_t id;
	struct job *job; /* NULL: not started, or finished */
	int64_t start_ns;
	int64_t deadline_ns; /* when it is killed; INT64_MAX: never */
	bool is_cut;         /* we stopped it, by the cap or by early stopping */
	bool is_timed_out;
	bool is_enough;          /* all metrics are known: it may be stopped */
	struct tune_step *steps; /* reported so far */
	size_t step_count;
	double values[TUNE_OBJECTIVES_MAX], limits[TUNE_LIMITS_MAX]; /* valid after the end */
	double wall_s;
	char why[TUNE_WHY]; /* why it failed; "": it did not */
	/* private */
	struct arena arena;
	const char *dir;
	const char *build; /* output of prepare, shared with other runs; NULL: the study has none */
	int64_t beat_ns;   /* launched ones: time of the last heartbeat */
	int output_fd;
	struct buf output; /* read so far, starting at the last incomplete line */
	off_t output_at;
	size_t step_cap;
	struct announce *announce; /* NULL: it does not use libsonde */
	uint64_t knobs_asked;      /* one bit per parameter: the program has read its knob */
	struct tune_kept kept[TUNE_OBJECTIVES_MAX + TUNE_LIMITS_MAX];
};

/*
 * Starts it in `dir`, which is created. 0; -ENOENT or -EACCES: the command cannot be executed under any
 * configuration; -ECANCELED: this configuration's preparation failed, see why; others: internal failure.
 */
int tune_run_start(struct tune_run *r, const struct tune_study *study, const double *point, uint64_t id,
		const char *dir, struct sonde_err *err);
/* Reads new output and libsonde data; finds new steps. */
int tune_run_poll(struct tune_run *r, struct sonde_err *err);
/* Ends it if it still runs, and measures. */
int tune_run_finish(struct tune_run *r, struct sonde_err *err);
void tune_run_release(struct tune_run *r);

/* Is a larger value of the study's steps better? */
bool tune_steps_rise(const struct tune_study *study);
/* Seconds from start until the steps reached the metric's target; NaN: not reached. */
double tune_time_to_target(const struct tune_run *r, const struct tune_metric *m);
double tune_rate(const struct tune_run *r, size_t from); /* seconds per step since step `from`; NaN: too few */
/* Sets the values and limits of a run that has ended. */
void tune_measure(struct tune_run *r, const struct job_usage *usage);
const char *tune_run_path(struct tune_run *r,
		const char *path); /* relative to its directory, unless absolute; NULL if out of memory */

/* Knobs, steps and metrics of a program that uses libsonde. Open before its start, close after its end. */
int tune_knobs_watch_open(struct tune_run *r, struct sonde_err *err);
void tune_knobs_watch_close(struct tune_run *r);
int tune_keep_step(struct tune_run *r, const struct tune_step *step);
struct sonde_knob_init;
/* The knob values at a point; returns their number, at most SONDE_KNOBS_MAX. */
size_t tune_knob_inits(const struct tune_space *space, const double *point, struct sonde_knob_init *wishes);

/* Expands a template with the values, directories and number of a run; -EINVAL: unknown name in braces. */
int tune_expand(struct buf *out, const char *template, const struct tune_run *r, struct sonde_err *err);
/* Checks that all templates of the study use known names. */
int tune_expand_check(const struct tune_study *study, struct sonde_err *err);

/*
 * The output of `prepare` in {build}, shared by all runs with equal parameters of
 * class rebuild.
 *
 * A complete build has a marker file that lists its parameter values. A build that was interrupted,
 * or has the directory name but not the values, is rebuilt.
 */

/* Sets the run's `build` if the study uses one. */
int tune_build_find(struct tune_run *r, struct sonde_err *err);
bool tune_build_is_made(struct tune_run *r);
int tune_build_start(struct tune_run *r, struct sonde_err *err);  /* creates an empty directory */
int tune_build_finish(struct tune_run *r, struct sonde_err *err); /* marks it complete */
#endif
