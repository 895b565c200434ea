/*
 * importance: parameter importance and partial dependence, from the model.
 *
 * Importance is the share of the variance of the expected cost over the space that a parameter
 * explains alone (its main effect); interactions are the rest to 1.
 */
#ifndef SONDE_TUNE_IMPORTANCE_H
#define SONDE_TUNE_IMPORTANCE_H

#include "tune/model.h"

enum { TUNE_CURVE_POINTS = 16 };

struct tune_curve {
	size_t count;                                        /* levels, at most TUNE_CURVE_POINTS */
	double at[TUNE_CURVE_POINTS];                        /* values of the parameter, */
	double value[TUNE_CURVE_POINTS];                     /* the expected value of the objective, */
	double lo[TUNE_CURVE_POINTS], hi[TUNE_CURVE_POINTS]; /* and its 95 % interval */
};

struct tune_insight {
	bool is_there; /* false: too few trials for a model */
	double importance[TUNE_PARAMS_MAX];
	struct tune_curve curves[TUNE_PARAMS_MAX];
};

/* For the first objective. */
int tune_insight(const struct tune_optimizer *o, struct tune_insight *out, struct arena *arena, struct sonde_err *err);

#endif
