/*
 * worth: what configurations are worth: seconds for an iteration's worth of progress, measured and expected.
 *
 * An iteration of one of several workers brings less than that of a single one: it was computed from parameters that
 * the others have changed meanwhile. All is counted in iterations of a single worker, so that of two
 * configurations with the same pace the one with fewer workers is better.
 */
#ifndef SONDE_TUNE_PROGRESS_COST_H
#define SONDE_TUNE_PROGRESS_COST_H

#include "tune/online-controller.h"

struct progress_cost {
	double mean, sd; /* NaN: not known */
};

double progress_cost_of_workers(size_t workers);               /* what an iteration of one of so many brings */
double progress_cost_usual(const struct online_controller *c); /* the mean of that over all reports */
/* Of the stint, by its reports so far. */
struct progress_cost progress_cost_measured(const struct online_controller *c, const struct online_stage *s);
/* Of any configuration, by the model of all that was told. -ENODATA: too little was. */
int progress_cost_expected(const struct online_controller *c, const double *point, struct progress_cost *cost,
		struct sonde_err *err);
/* The configuration expected to be best of those told; point NULL: none. */
int progress_cost_best(struct online_controller *c, const double **point, struct progress_cost *cost,
		struct sonde_err *err);
/* By how much, on average, a worth falls below `than`: 0 where it cannot. */
double progress_cost_improvement(const struct progress_cost *w, double than);
/* Iterations to go: by the curve, or, without a target, as many as there were. Wrong by a factor: sd by mean. */
struct progress_cost progress_cost_to_go(const struct online_controller *c);
/* As many as there are surely enough, by the plan's confidence: what a move or a try must pay off in. */
double progress_cost_sure_to_go(const struct online_controller *c);

#endif
