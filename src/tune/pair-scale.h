/*
 * pair-scale: costs of paired trials on one scale.
 *
 * A paired trial has a ratio to another trial, which has a ratio to a third. The logarithms of all
 * costs are the least squares solution of all ratios, so a later measurement of a rival improves
 * all trials paired with it. The inverse of the normal matrix is the covariance of the rows'
 * errors.
 */
#ifndef SONDE_TUNE_PAIR_SCALE_H
#define SONDE_TUNE_PAIR_SCALE_H

#include "tune/model.h"

/* Sets y, noise and shared of the model's rows; unchanged without paired trials. -ENOMEM. */
int tune_level_rows(struct tune_model *m, const struct tune_optimizer *o, const double *cost, struct arena *arena);

#endif
