/*
 * run: one execution of the program with one configuration, and what it measured.
 *
 * Values reach the program as the study says: {name} in the words of the command
 * and in file templates, arguments of their own, variables, knobs. {dir} is the run's own
 * directory, {build} what `prepare` makes (build-cache.h) and {id} the trial's number. Output
 * goes to files in that directory. No shell is between.
 */
#ifndef SONDE_TUNE_TRIAL_RUN_H
#define SONDE_TUNE_TRIAL_RUN_H

#include "base/buf.h"
#include "launch/job.h"
#include "live/rate.h"
#include "tune/study.h"

_Static_assert(TUNE_PARAMS_MAX <= 64, "knobs_asked has a bit a parameter");

enum { TUNE_STEPS_MAX = 100000, TUNE_WHY = 300 };

struct tune_step {
	int64_t index;
	int64_t at_ns; /* CLOCK_MONOTONIC; of steps found in the output: when they were found */
	double value;
};

/* What the boards of all its processes say of a metric. */
struct tune_kept {
	uint32_t kind; /* enum sonde_metric_kind; 0: none has it */
	double sum, last;
	uint64_t count, ticks;
	struct live_rate rate; /* of a rate */
};

struct tune_run {
	const struct tune_study *study;
	const double *point;
	uint64_t id;
	struct job *job; /* NULL: not started, or over */
	int64_t start_ns;
	int64_t deadline_ns; /* it is ended then; INT64_MAX: never */
	bool is_cut;         /* it was ended by us, by the cap or the early stop */
	bool is_timed_out;
	bool is_enough;          /* all that is measured is known: it need not go on */
	struct tune_step *steps; /* reported so far */
	size_t step_count;
	double values[TUNE_OBJECTIVES_MAX], limits[TUNE_LIMITS_MAX]; /* after the end */
	double wall_s;
	char why[TUNE_WHY]; /* why it failed; "": it did not */
	/* private */
	struct arena arena;
	const char *dir;
	const char *build; /* what prepare makes and other runs use too; NULL: the study has none */
	int64_t beat_ns;   /* launched ones: when we last said that we live */
	int output_fd;
	struct buf output; /* read so far, from the last line on that is not whole */
	off_t output_at;
	size_t step_cap;
	struct announce *announce; /* NULL: it does not take part */
	uint64_t knobs_asked;      /* a bit a parameter: the program has asked for its knob */
	struct tune_kept kept[TUNE_OBJECTIVES_MAX + TUNE_LIMITS_MAX];
};

/*
 * Start it in `dir`, which is made. 0; -ENOENT or -EACCES: the command cannot be executed, which no other
 * configuration will change; -ECANCELED: this configuration's preparation failed, see why; others: our failure.
 */
int tune_run_start(struct tune_run *r, const struct tune_study *study, const double *point, uint64_t id,
		const char *dir, struct sonde_err *err);
/* Take in what it has printed and announced; finds new steps. */
int tune_run_poll(struct tune_run *r, struct sonde_err *err);
/* End it if it has not ended, and measure. */
int tune_run_finish(struct tune_run *r, struct sonde_err *err);
void tune_run_release(struct tune_run *r);

/* Do the values of the study's steps get better as they rise? */
bool tune_steps_rise(const struct tune_study *study);
/* Seconds from start until the steps reached the metric's target; NaN: they have not. */
double tune_time_to_target(const struct tune_run *r, const struct tune_metric *m);
double tune_rate(const struct tune_run *r, size_t from); /* seconds a step, since that one; NaN: too few */
/* The numbers of a run that has ended, into its values and limits. */
void tune_measure(struct tune_run *r, const struct job_usage *usage);
const char *tune_run_path(struct tune_run *r,
		const char *path); /* in its directory, unless absolute; NULL: no memory */

/* knob-use.c: knobs, steps and metrics of a program that takes part. Open before its start, close after its end. */
int tune_knobs_watch_open(struct tune_run *r, struct sonde_err *err);
void tune_knobs_watch_close(struct tune_run *r);
int tune_keep_step(struct tune_run *r, const struct tune_step *step);
struct sonde_knob_init;
/* What the knobs shall be at a point; returns how many, at most SONDE_KNOBS_MAX. */
size_t tune_wishes(const struct tune_space *space, const double *point, struct sonde_knob_init *wishes);

/* The words of a template with the values, place and number of a run; -EINVAL: a name in braces is none of these. */
int tune_expand(struct buf *out, const char *template, const struct tune_run *r, struct sonde_err *err);
/* Does everything that the study will expand have names that are known? */
int tune_expand_check(const struct tune_study *study, struct sonde_err *err);

#endif
