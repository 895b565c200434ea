/*
 * stop: is a trial that reports steps worth going on with?
 *
 * Trials are compared at rungs, after 1, 2, 4, 8, ... steps, by the best value they
 * had until then. MEDIAN stops one that is worse than the median of the others (at
 * least five); ASHA one that is not among the best third of all that came as far (Li et al.,
 * "A system for massively parallel hyperparameter tuning", MLSys 2020), and asks only at every
 * second rung from the fourth step on.
 */
#ifndef SONDE_TUNE_EARLY_STOP_H
#define SONDE_TUNE_EARLY_STOP_H

#include "tune/trial-run.h"

/* The rungs of steps in rising order of index; values are costs, or scores where is_maximized. */
size_t tune_rungs(const struct tune_step *steps, size_t count, bool is_maximized, double *rungs);
/* Should a trial that has climbed so far be stopped, given what the others have? */
bool tune_should_stop(enum tune_stop rule, const struct tune_optimizer *o, const double *rungs, size_t count,
		bool is_maximized, struct arena *scratch);
/*
 * What a trial that was stopped after so many rungs would have come to, by how far those that went on still came from
 * there; no better than the best of them. NaN: none went on.
 */
double tune_expected_end(const struct tune_optimizer *o, const double *rungs, size_t count, bool is_maximized,
		struct arena *scratch);

#endif
