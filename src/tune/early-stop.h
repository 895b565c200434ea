/*
 * early-stop: should a trial that reports steps be stopped early?
 *
 * Trials are compared at rungs, after 1, 2, 4, 8, ... steps, by their best value so far. MEDIAN
 * stops a trial that is worse than the median of the others (at least five). ASHA stops one that is
 * not in the best third of all that reached the rung (Li et al., "A system for massively parallel
 * hyperparameter tuning", MLSys 2020), checked at every second rung from the fourth step on.
 */
#ifndef SONDE_TUNE_EARLY_STOP_H
#define SONDE_TUNE_EARLY_STOP_H

#include "tune/trial-run.h"

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
