/*
 * drive: run a study: ask, run, tell, until the budget is spent; then prove the best
 * against the default.
 *
 * What is asked for and told is in the journal before anything rests on it. A
 * study that was killed goes on where it was: trials that were running are
 * run again under their numbers, nothing else is.
 */
#ifndef SONDE_TUNE_STUDY_RUN_H
#define SONDE_TUNE_STUDY_RUN_H

#include "stats/effect.h"
#include "tune/live-trial.h"
#include "tune/study-journal.h"
#include "tune/trial-run.h"

#include <signal.h>

struct tune_drive {
	const struct tune_study *study;
	struct tune_optimizer *o;
	struct tune_journal *journal;
	const char *dir;                             /* of the runs; made */
	bool is_paired;                              /* each trial beside the best so far, the model on ratios */
	const volatile sig_atomic_t *is_interrupted; /* end soon; NULL: never */
	/* Something to show: a trial has ended (its result is in), or a pair of the proof (trial NULL). */
	void (*show)(void *arg, const struct tune_trial *trial, const char *why);
	void *arg;
	/* private */
	struct tune_live live; /* the program of a study with a window */
	char proof_why[TUNE_WHY];
	bool has_run;         /* a trial, since this began */
	uint64_t knobs_asked; /* by these; see trial-run.h */
};

enum tune_gain {
	TUNE_GAIN_UNKNOWN, /* not proven one way or the other: no trial worked, interrupted, several objectives */
	TUNE_GAIN_PROVEN,
	TUNE_GAIN_NONE, /* nothing to gain: the default is best, or no better was proven */
};

struct tune_outcome {
	struct tune_best best;
	const struct tune_trial *start; /* the default's trial; NULL: not allowed, or not tried */
	enum tune_gain gain;
	struct stats_interval ratio;      /* best by default, where both are positive; NaN: not measured */
	struct stats_interval difference; /* best less default, where they are not */
	bool is_difference;
	const char *proof_why; /* the last pair that failed; "": none */
	size_t pairs;
	size_t done, cut, failed;
	bool is_interrupted;
	const char *knob; /* that no run has asked for, though trials ran: its parameter does nothing; NULL: none */
};

/*
 * 0 when the study ran to its end or was interrupted. -ENOENT, -EACCES: the command cannot be executed.
 * -EIO: every trial failed. The journal is good in every case.
 */
int tune_drive(struct tune_drive *d, struct tune_outcome *out, struct arena *arena, struct sonde_err *err);
/* The same without running anything: what the journal has. */
int tune_conclude(const struct tune_drive *d, struct tune_outcome *out, struct arena *arena, struct sonde_err *err);

#endif
