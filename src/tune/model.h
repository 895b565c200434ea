/*
 * model: what the trials so far say about a cost at any configuration.
 *
 * Trials of the same configuration are one row, the mean of them. Costs are warped
 * (warp.h) and seen by a Gaussian process (stats/gp.h); pending trials join it
 * as if they had come out as expected.
 */
#ifndef SONDE_TUNE_MODEL_H
#define SONDE_TUNE_MODEL_H

#include "stats/gp.h"
#include "stats/summary.h"
#include "tune/optimizer.h"
#include "tune/warp.h"

enum { TUNE_ENSEMBLE = 8 };

struct tune_model {
	size_t n;              /* rows measured: distinct configurations */
	const double **points; /* n, */
	size_t *trials;        /* and the first trial of each */
	struct tune_warp warp;
	struct stats_gp gp;                    /* n rows, then the pending; with the most probable parameters */
	struct stats_gp others[TUNE_ENSEMBLE]; /* the same with other parameters that may be right as well */
	size_t other_count;
	size_t best;      /* the row with the least expected cost, */
	double best_mean; /* and that, warped */
	/* What earlier studies expect, by these weights: the processes are of what is left. */
	const struct tune_warm_start *earlier;
	size_t warm_start_count; /* 0: none, or of no use */
	double weights[TUNE_WARM_START_MAX];
	/* private */
	double *x, *y, *noise;
	double *shared; /* noise of rows that were measured beside each other; NULL: none were */
	bool is_category[TUNE_PARAMS_MAX];
};

struct tune_model_options {
	const double *cost; /* of each trial; NaN: not of this model */
	bool is_warped;     /* false: costs are taken as they are */
	bool is_label;      /* costs are -1 and 1: a function that jumps, taken to be wide and noisy */
	bool has_pending;
	bool has_others;
	bool has_earlier; /* costs are of what earlier studies measured too */
	bool has_pairs;   /* costs are what trials beside others were measured by */
	uint64_t stream;  /* of random numbers, for one start of the fit */
};

/* -ENODATA: fewer than two rows. */
int tune_model_fit(struct tune_model *m, const struct tune_optimizer *o, const struct tune_model_options *how,
		struct arena *arena, struct sonde_err *err);

/* The row of a configuration; n: it has none. */
size_t tune_model_row(const struct tune_model *m, const struct tune_optimizer *o, const double *point);

/* By one of its processes: the expected cost, warped, and its variance, at coordinates; as stats_gp_predict. */
void tune_model_predict(const struct tune_model *m, const struct stats_gp *gp, const double *x, double *mean,
		double *variance, double *mean_gradient, double *variance_gradient);

#endif
