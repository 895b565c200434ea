/*
 * progress-cost: the cost of configurations, in seconds per unit of progress, measured and
 * expected.
 *
 * An iteration of one of several workers makes less progress than that of a single one: it uses
 * stale parameters. All progress is counted in iterations of a single worker, so of two
 * configurations with the same rate the one with fewer workers is better.
 */
#ifndef SONDE_TUNE_PROGRESS_COST_H
#define SONDE_TUNE_PROGRESS_COST_H

#include "tune/online-controller.h"

struct progress_cost {
	double mean, sd; /* NaN if unknown */
};

double progress_cost_of_workers(size_t workers);               /* progress of one iteration with that many workers */
double progress_cost_usual(const struct online_controller *c); /* its mean over all reports */
/* Of a stage, from its reports so far. */
struct progress_cost progress_cost_measured(const struct online_controller *c, const struct online_stage *s);
/* Of any configuration, by the model of all results. -ENODATA: too few results. */
int progress_cost_expected(const struct online_controller *c, const double *point, struct progress_cost *cost,
		struct sonde_err *err);
/* The configuration with the best expected cost among those with a result; point NULL: none. */
int progress_cost_best(struct online_controller *c, const double **point, struct progress_cost *cost,
		struct sonde_err *err);
/* Expected improvement of a cost over `than`: 0 where it is impossible. */
double progress_cost_improvement(const struct progress_cost *w, double than);
/*
 * Remaining iterations: by the curve, or, without a target, as many as there were. The error is multiplicative:
 * sd / mean.
 */
struct progress_cost progress_cost_to_go(const struct online_controller *c);
/* Remaining iterations at the plan's confidence: a reconfiguration or a try must pay off within them. */
double progress_cost_sure_to_go(const struct online_controller *c);

#endif
