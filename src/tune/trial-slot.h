/*
 * slot: the place of one trial while it runs: its repeats one after another, each
 * alone or, in a paired study, beside the best so far.
 */
#ifndef SONDE_TUNE_TRIAL_SLOT_H
#define SONDE_TUNE_TRIAL_SLOT_H

#include "launch/cpu-swap.h"
#include "tune/study-run.h"

struct tune_slot {
	uint64_t id; /* 0: free */
	const double *point;
	struct tune_run run, beside; /* beside: paired studies only */
	bool has_beside;
	struct cpu_swap *cpu_swap; /* while both run */
	const double *rival;       /* the point of beside; NULL: none */
	uint64_t rival_id;         /* its trial; the own one where it is what others are by; 0: not paired */
	double level;              /* what the rival is taken to be, by the default */
	size_t repeat;             /* of these values */
	double values[TUNE_REPEATS_MAX][TUNE_OBJECTIVES_MAX];
	double limits[TUNE_REPEATS_MAX][TUNE_LIMITS_MAX];
	bool is_cut;
	char why[TUNE_WHY];
	size_t rungs_seen;
	struct tune_result result; /* when it is over */
};

/* Begin a trial. Errors as tune_run_start, except that -ECANCELED is a result. */
int tune_slot_start(struct tune_slot *s, struct tune_drive *d, const struct tune_trial *t, struct sonde_err *err);
/* Look after what runs: 1 when the trial is over and `result` is filled, 0 when it goes on. */
int tune_slot_turn(struct tune_slot *s, struct tune_drive *d, struct sonde_err *err);
void tune_slot_stop(struct tune_slot *s); /* nothing of it lives any more; nothing is told */

const char *tune_live_dir(const struct tune_drive *d, char *dir, size_t size); /* of a program that keeps running */

bool tune_is_interrupted(const struct tune_drive *d);
/* Of a pair that has been started; NULL: where that cannot be. */
struct cpu_swap *tune_cpu_swap(const struct tune_drive *d, const struct tune_run *a, const struct tune_run *b);
size_t tune_count_state(const struct tune_optimizer *o, enum tune_state state);

/* Pairs of runs into the journal, as many as the study wants. Several that fail end it: d->proof_why. */
int tune_prove(struct tune_drive *d, const struct tune_outcome *found, struct sonde_err *err);
/* For the proof: run both, in turn or, in a paired study, at the same time; their values of the first objective. */
int tune_run_pair(struct tune_drive *d, const double *best, const double *start, bool is_default_first,
		double *best_value, double *start_value, char *why, struct sonde_err *err);

#endif
