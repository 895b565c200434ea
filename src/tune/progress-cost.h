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

struct train_worth {
	double mean, sd; /* NaN: not known */
};

double train_worth_of_workers(size_t workers);         /* what an iteration of one of so many brings */
double train_worth_usual(const struct train_coach *c); /* the mean of that over all reports */
/* Of the stint, by its reports so far. */
struct train_worth train_worth_measured(const struct train_coach *c, const struct train_stint *s);
/* Of any configuration, by the model of all that was told. -ENODATA: too little was. */
int train_worth_expected(const struct train_coach *c, const double *point, struct train_worth *worth,
		struct sonde_err *err);
/* The configuration expected to be best of those told; point NULL: none. */
int train_worth_best(struct train_coach *c, const double **point, struct train_worth *worth, struct sonde_err *err);
/* By how much, on average, a worth falls below `than`: 0 where it cannot. */
double train_worth_improvement(const struct train_worth *w, double than);
/* Iterations to go: by the curve, or, without a target, as many as there were. Wrong by a factor: sd by mean. */
struct train_worth train_worth_to_go(const struct train_coach *c);
/* As many as there are surely enough, by the plan's confidence: what a move or a try must pay off in. */
double train_worth_sure_to_go(const struct train_coach *c);

#endif
