/*
 * live: trials as windows of one program that keeps running.
 *
 * A trial sets the knobs, waits until the program has taken them up and a few steps have
 * passed, and measures over the next `window` steps: no time is lost in starting. A program
 * that ends is started again; one that ends twice before a window is full has failed.
 */
#ifndef SONDE_TUNE_LIVE_TRIAL_H
#define SONDE_TUNE_LIVE_TRIAL_H

#include "tune/trial-run.h"

struct tune_live {
	struct tune_run run;
	bool is_running;
	/* of the window at hand */
	const double *point;
	uint64_t id;
	int starts;
	bool is_taken_up, is_deaf;
	size_t from; /* the step that it was taken up at */
	int64_t begun_ns;
};

/* Begin a window at `point`, in a program that is started in `dir` if none runs. Errors as tune_run_start. */
int tune_live_begin(struct tune_live *l, const struct tune_study *study, const double *point, uint64_t id,
		const char *dir, struct sonde_err *err);
/* 1: the window is over: `values` are in, or `why` says why there are none; 0: it goes on. */
int tune_live_turn(struct tune_live *l, const char *dir, double *values, char *why, struct sonde_err *err);
void tune_live_stop(struct tune_live *l); /* the program ends; zeroed memory is fine */

#endif
