/*
 * trial-slot: one running trial: its repeats in sequence, each alone or, in a paired study,
 * together with the best so far.
 */
#ifndef SONDE_TUNE_TRIAL_SLOT_H
#define SONDE_TUNE_TRIAL_SLOT_H

#include "launch/scheduling.h"
#include "tune/study-run.h"
#include "tune/trial-run.h"

struct tune_slot {
	uint64_t id; /* 0: free */
	const double *point;
	struct tune_run run, beside; /* beside: in paired studies only */
	bool has_beside;
	struct cpu_swap *cpu_swap; /* while both run */
	const double *rival;       /* the point of `beside`; NULL: none */
	uint64_t rival_id;         /* its trial; the trial itself if it is the reference; 0: not paired */
	double level;              /* assumed value of the rival, relative to the default */
	size_t repeat;             /* number of the current repeat */
	double values[TUNE_REPEATS_MAX][TUNE_OBJECTIVES_MAX];
	double limits[TUNE_REPEATS_MAX][TUNE_LIMITS_MAX];
	bool is_cut;
	char why[TUNE_WHY];
	size_t rungs_seen;
	struct tune_result result; /* valid when it is finished */
};

/* Starts a trial. Errors as in tune_run_start, except that -ECANCELED becomes a result. */
int tune_slot_start(struct tune_slot *s, struct tune_drive *d, const struct tune_trial *t, struct sonde_err *err);
/* Polls the runs: 1 if the trial is finished and `result` is set, 0 otherwise. */
int tune_slot_turn(struct tune_slot *s, struct tune_drive *d, struct sonde_err *err);
void tune_slot_stop(struct tune_slot *s); /* ends all its processes; reports no result */

const char *tune_live_dir(const struct tune_drive *d, char *dir,
		size_t size); /* directory of a program that keeps running */

bool tune_is_interrupted(const struct tune_drive *d);
/* For a started pair; NULL if not possible. */
struct cpu_swap *tune_cpu_swap(const struct tune_drive *d, const struct tune_run *a, const struct tune_run *b);
size_t tune_count_state(const struct tune_optimizer *o, enum tune_state state);

/* Runs the study's number of pairs and writes them to the journal. Several failures abort it: d->proof_why. */
int tune_prove(struct tune_drive *d, const struct tune_outcome *found, struct sonde_err *err);
/*
 * Should a trial that reports steps be stopped early?
 *
 * Trials are compared at rungs, after 1, 2, 4, 8, ... steps, by their best value so far. MEDIAN
 * stops a trial that is worse than the median of the others (at least five). ASHA stops one that is
 * not in the best third of all that reached the rung (Li et al., "A system for massively parallel
 * hyperparameter tuning", MLSys 2020), checked at every second rung from the fourth step on.
 */

/* The values at the rungs, in order; values are costs, or scores if is_maximized. */
size_t tune_rungs(const struct tune_step *steps, size_t count, bool is_maximized, double *rungs);
/* Should a trial with these rungs be stopped, given those of the other trials? */
bool tune_should_stop(enum tune_stop rule, const struct tune_optimizer *o, const double *rungs, size_t count,
		bool is_maximized, struct arena *scratch);
/*
 * The expected final value of a trial that was stopped after `count` rungs, from the improvement that the trials that
 * continued made after that rung; not better than the best of them. NaN if none continued.
 */
double tune_expected_end(const struct tune_optimizer *o, const double *rungs, size_t count, bool is_maximized,
		struct arena *scratch);

#endif
