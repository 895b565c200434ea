/*
 * study-run: runs a study: ask, run, tell, until the budget is spent; then confirms the best
 * against the default.
 *
 * Asked and told trials are in the journal before anything depends on them. A killed study resumes:
 * interrupted trials are run again under their numbers, others are not.
 */
#ifndef SONDE_TUNE_STUDY_RUN_H
#define SONDE_TUNE_STUDY_RUN_H

#include "stats/effect.h"
#include "tune/study-journal.h"
#include "tune/trial-run.h"

#include <signal.h>

/*
 * Trials as measurement windows of one running program.
 *
 * A trial sets the knobs, waits until the program has read them and a few steps have passed, and
 * measures the next `window` steps: no time is lost in startup. A program that exits is restarted;
 * one that exits twice before a window is full has failed.
 */

struct tune_live {
	struct tune_run run;
	bool is_running;
	/* of the current window */
	const double *point;
	uint64_t id;
	int starts;
	bool is_taken_up, is_deaf;
	size_t from; /* the step at which the knobs were read */
	int64_t begun_ns;
};

/* Starts a window at `point`; starts the program in `dir` if it is not running. Errors as in tune_run_start. */
int tune_live_start(struct tune_live *l, const struct tune_study *study, const double *point, uint64_t id,
		const char *dir, struct sonde_err *err);
/* 1: the window is complete: `values` are set, or `why` has the failure; 0: not yet. */
int tune_live_turn(struct tune_live *l, const char *dir, double *values, char *why, struct sonde_err *err);
struct tune_drive {
	const struct tune_study *study;
	struct tune_optimizer *o;
	struct tune_journal *journal;
	const char *dir; /* of the runs; created */
	bool is_paired;  /* runs each trial together with the best so far; the model uses ratios */
	const volatile sig_atomic_t *is_interrupted; /* stop soon; may be NULL */
	/* Called when a trial has ended (with its result) or a pair of the confirmation has (trial NULL). */
	void (*show)(void *arg, const struct tune_trial *trial, const char *why);
	void *arg;
	/* private */
	struct tune_live live; /* the program of a study with a window */
	char proof_why[TUNE_WHY];
	bool has_run;         /* a trial has run since the start */
	uint64_t knobs_asked; /* by these trials; see trial-run.h */
};

enum tune_gain {
	TUNE_GAIN_UNKNOWN, /* not confirmed either way: no trial succeeded, interrupted, several objectives */
	TUNE_GAIN_PROVEN,
	TUNE_GAIN_NONE, /* no improvement: the default is best, or no better one was confirmed */
};

struct tune_outcome {
	struct tune_best best;
	const struct tune_trial *start; /* the default's trial; NULL: not allowed, or not tried */
	enum tune_gain gain;
	struct stats_interval ratio;      /* best divided by default, if both are positive; NaN: not measured */
	struct stats_interval difference; /* best minus default otherwise */
	bool is_difference;
	const char *proof_why; /* why the last pair failed; "": none did */
	size_t pairs;
	size_t done, cut, failed;
	bool is_interrupted;
	const char *knob; /* a knob that no run has read although trials ran: its parameter has no effect; NULL: none */
};

/*
 * 0 if the study completed or was interrupted. -ENOENT, -EACCES: the command cannot be executed. -EIO: every trial
 * failed. The journal is valid in every case.
 */
int tune_drive(struct tune_drive *d, struct tune_outcome *out, struct arena *arena, struct sonde_err *err);
/* The outcome from the journal, without running anything. */
int tune_conclude(const struct tune_drive *d, struct tune_outcome *out, struct arena *arena, struct sonde_err *err);

#endif
