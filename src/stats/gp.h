/*
 * gp: Gaussian process regression (Rasmussen and Williams, 2006): predicts a noisy function between the measured
 * points, with its uncertainty.
 *
 * Points are rows of numbers, numeric coordinates about 0..1 and categories as any numbers that are equal or not. The
 * function is the sum of two: a joint one of all coordinates, with a Matern-5/2 kernel of r^2 = sum_j d_j^2/scale_j^2
 * (d_j the difference of a numeric coordinate, 0 or 1 for a category), and one that is a sum of functions of one
 * coordinate each, with the kernel 1 / (1 + dims d_j^2 / (2 scale_j^2)): main effects of parameters are learnt from
 * few points. The scales (one per coordinate), the variances of both and of the noise are learnt: the most probable
 * ones under the prior, which keeps them reasonable if points are few. Values should have about mean 0 and variance
 * 1.
 *
 * Memory comes from the caller's arena and has its lifetime; no global state.
 */
#ifndef SONDE_STATS_GP_H
#define SONDE_STATS_GP_H

#include "base/arena.h"
#include "base/err.h"
#include "stats/rng.h"

#include <stdbool.h>
#include <stddef.h>

enum { STATS_GP_DIMS = 128, STATS_GP_ROWS = 2000 };

struct stats_gp_data {
	size_t n, dims;
	const double *x;         /* n rows of dims */
	const double *y;         /* n */
	const double *noise;     /* noise variance by row, relative to one measurement (4 repeats: 0.25); NULL: all 1 */
	const bool *is_category; /* dims; NULL: all numeric */
	/*
	 * Measurements with common noise: the full covariance of the noise of the first `shared_rows` rows, relative
	 * to the variance of one measurement; NULL: none.
	 */
	const double *shared;
	size_t shared_rows;
};

/* All are normal distributions of logarithms. */
struct stats_gp_prior {
	double scale_mean[STATS_GP_DIMS], scale_sd;
	double variance_mean, variance_sd; /* of the joint function */
	double additive_mean, additive_sd; /* of the additive function */
	double noise_mean, noise_sd;
};

/* The learnt parameters: logarithms. */
struct stats_gp_parameters {
	double scale[STATS_GP_DIMS];
	double variance; /* of the joint function, */
	double additive; /* of the additive function, */
	double noise;    /* and of one measurement */
};

struct stats_gp {
	struct stats_gp_data data;
	struct stats_gp_parameters parameters;
	double mean;     /* far from all points */
	double variance; /* exp of the parameters */
	double additive;
	double noise;
	double evidence; /* log of the posterior probability of the parameters, up to a constant */
	/* private */
	double inverse_scale2[STATS_GP_DIMS];
	double *alpha;             /* inverse * (y - mean) */
	double *inverse;           /* of the covariance of all rows */
	double *columns;           /* the points, by coordinate */
	double *k, *v, *slope, *d; /* scratch: one thread at a time */
	double *to;                /* weights of the covariances for the difference to a row; NULL: no row */
	double to_variance;
};

/* For numeric coordinates of dims in all: length scales about a third of the range, longer if there are many. */
void stats_gp_prior_usual(struct stats_gp_prior *prior, const struct stats_gp_data *data);

/*
 * Learns the parameters from each start in turn and keeps the best; at most `evaluations` of the likelihood per
 * start. Then as stats_gp_condition. -EINVAL: no rows, too many, non-finite values; -ENOMEM.
 */
int stats_gp_fit(struct stats_gp *gp, const struct stats_gp_data *data, const struct stats_gp_prior *prior,
		const struct stats_gp_parameters *starts, size_t start_count, size_t evaluations, struct arena *arena,
		struct sonde_err *err);
/* Uses the given parameters. The data must outlive the process. */
int stats_gp_condition(struct stats_gp *gp, const struct stats_gp_data *data,
		const struct stats_gp_parameters *parameters, struct arena *arena, struct sonde_err *err);

/*
 * Samples the posterior of the parameters: `steps` of elliptical slice sampling (Murray, Adams and MacKay, AISTATS
 * 2010) from those given, which are replaced. -ENOMEM.
 */
int stats_gp_sample(struct stats_gp_parameters *parameters, const struct stats_gp_data *data,
		const struct stats_gp_prior *prior, size_t steps, struct stats_rng *rng, struct arena *arena);

/* Predicts the function (without measurement noise) at x. Gradients may be NULL; they have dims entries, 0 for
 * categories. */
void stats_gp_predict(const struct stats_gp *gp, const double *x, double *mean, double *variance, double *mean_gradient,
		double *variance_gradient);

/* From now on variances are of the difference to the function at that row: common errors of both cancel. -ENOMEM. */
int stats_gp_relate(struct stats_gp *gp, size_t row, struct arena *arena);

#endif
