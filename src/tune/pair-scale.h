/*
 * level: costs of trials that ran beside another, on one scale.
 *
 * Of such a trial the ratio to the other one is known, of that one the ratio to a third. The logarithms of all
 * costs are the least squares solution of all ratios together, so that what is learnt later of a rival counts for
 * all that ran beside it; how far rows are wrong together is the inverse of the normal matrix.
 */
#ifndef SONDE_TUNE_PAIR_SCALE_H
#define SONDE_TUNE_PAIR_SCALE_H

#include "tune/model.h"

/* y, noise and shared of the model's rows; where no trial ran beside another they stay as they are. -ENOMEM. */
int tune_level_rows(struct tune_model *m, const struct tune_optimizer *o, const double *cost, struct arena *arena);

#endif
