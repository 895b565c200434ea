/*
 * model: predicts a cost at any configuration from the trials so far.
 *
 * Trials of the same configuration are one row, their mean. Costs are warped (warp.h) and modelled
 * by a Gaussian process (stats/gp.h); pending trials are added with their expected value.
 */
#ifndef SONDE_TUNE_MODEL_H
#define SONDE_TUNE_MODEL_H

#include "stats/gp.h"
#include "stats/summary.h"
#include "tune/optimizer.h"
#include "tune/warp.h"

enum { TUNE_ENSEMBLE = 8 };

struct tune_model {
	size_t n;              /* rows: distinct measured configurations */
	const double **points; /* n, */
	size_t *trials;        /* and the first trial of each */
	struct tune_warp warp;
	struct stats_gp gp; /* n rows, then the pending ones; with the most probable hyperparameters */
	struct stats_gp others[TUNE_ENSEMBLE]; /* the same with other plausible hyperparameters */
	size_t other_count;
	size_t best;      /* the row with the lowest expected cost, */
	double best_mean; /* and that cost, warped */
	/* Predictions of earlier studies, with these weights: the processes model the residuals. */
	const struct tune_warm_start *earlier;
	size_t warm_start_count; /* 0: none, or useless */
	double weights[TUNE_WARM_START_MAX];
	/* private */
	double *x, *y, *noise;
	double *shared; /* noise covariance of rows that were measured in pairs; NULL: none were */
	bool is_category[TUNE_PARAMS_MAX];
};

struct tune_model_options {
	const double *cost; /* of each trial; NaN: not part of this model */
	bool is_warped;     /* false: costs are not warped */
	bool is_label;      /* costs are -1 and 1: a step function, modelled as wide and noisy */
	bool has_pending;
	bool has_others;
	bool has_earlier; /* earlier studies measured these costs too */
	bool has_pairs;   /* costs come from paired trials */
	uint64_t stream;  /* random stream, for one start of the fit */
};

/* -ENODATA: fewer than two rows. */
int tune_model_fit(struct tune_model *m, const struct tune_optimizer *o, const struct tune_model_options *how,
		struct arena *arena, struct sonde_err *err);

/* The row of a configuration; n if none. */
size_t tune_model_row(const struct tune_model *m, const struct tune_optimizer *o, const double *point);

/*
 * Predicts with one of its processes at an encoded point: expected cost, warped, and its variance; as
 * stats_gp_predict.
 */
void tune_model_predict(const struct tune_model *m, const struct stats_gp *gp, const double *x, double *mean,
		double *variance, double *mean_gradient, double *variance_gradient);

/*
 * Parameter importance and partial dependence, from the model.
 *
 * Importance is the share of the variance of the expected cost over the space that a parameter
 * explains alone (its main effect); interactions are the rest to 1.
 */

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
