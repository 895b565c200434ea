/*
 * gp-private: shared by the parts of the Gaussian process. gp-fit.c has the evidence of parameters, finds and samples
 * them; gp.c has the covariances of all rows, conditions on them and predicts.
 */
#ifndef SONDE_STATS_GP_PRIVATE_H
#define SONDE_STATS_GP_PRIVATE_H

#include "stats/gp.h"

#define SQRT5 2.23606797749978969641
#define JITTER 1e-8 /* share of the function's variance: separates nearly equal rows */

enum { PARAMETERS = 3 }; /* besides the scales */

/* Everything needed to evaluate the evidence, allocated once per fit. */
struct gp_evidence {
	const struct stats_gp_data *data;
	const struct stats_gp_prior *prior;
	size_t pairs;
	double *squares;                         /* dims x pairs: squared differences, rows i > j, pair after pair */
	double *joint, *additive, *slope, *rest; /* pairs: covariances, -d(joint)/d(r^2/2), scratch */
	double *l, *inverse, *scratch, *alpha, *ones;
	double mean;
};

/* The parameters in the form used. */
struct gp_settings {
	double inverse_scale2[STATS_GP_DIMS];
	double variance, additive, noise;
	double share;   /* of the additive variance, per coordinate */
	double sharper; /* factor of d^2 / scale^2 in the additive kernel: dims / 2 */
};

/* Covariance of the noise of two rows, relative to that of one measurement. */
static inline double gp_noise_of(const struct stats_gp_data *data, size_t i, size_t j)
{
	if (data->shared && i < data->shared_rows && j < data->shared_rows)
		return data->shared[i * data->shared_rows + j];
	return i != j ? 0 : data->noise ? data->noise[i] : 1;
}

/* prior: NULL if no evidence is needed. Returns -ENOMEM on failure. */
int gp_evidence_init(struct gp_evidence *e, const struct stats_gp_data *data, const struct stats_gp_prior *prior,
		struct arena *arena);
void gp_settle(struct gp_settings *s, const struct stats_gp_parameters *q, size_t dims);
/* Writes the covariance of all rows into l; also fills joint, additive and slope. */
void gp_fill_covariance(struct gp_evidence *e, const struct gp_settings *s);

/* Computes mean and alpha from the factor in l; returns the quadratic form of the likelihood. */
double gp_solve(struct gp_evidence *e);
/* Both write the gradient in the order of theta (scales, variance, additive, noise) if it is not NULL. */
double gp_log_likelihood(struct gp_evidence *e, const struct stats_gp_parameters *q, double *gradient);
double gp_log_posterior(struct gp_evidence *e, const struct stats_gp_parameters *q, double *gradient);

/* -EINVAL: no rows, too many, or a value that is not finite. */
int gp_check(const struct stats_gp_data *data, struct sonde_err *err);

#endif
