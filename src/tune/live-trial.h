/*
 * live-trial: trials as measurement windows of one running program.
 *
 * A trial sets the knobs, waits until the program has read them and a few steps have passed, and
 * measures the next `window` steps: no time is lost in startup. A program that exits is restarted;
 * one that exits twice before a window is full has failed.
 */
#ifndef SONDE_TUNE_LIVE_TRIAL_H
#define SONDE_TUNE_LIVE_TRIAL_H

#include "tune/trial-run.h"

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
int tune_live_begin(struct tune_live *l, const struct tune_study *study, const double *point, uint64_t id,
		const char *dir, struct sonde_err *err);
/* 1: the window is complete: `values` are set, or `why` has the failure; 0: not yet. */
int tune_live_turn(struct tune_live *l, const char *dir, double *values, char *why, struct sonde_err *err);
void tune_live_stop(struct tune_live *l); /* ends the program; accepts zeroed memory */

#endif
