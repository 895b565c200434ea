/*
 * gp-private: what the parts of a Gaussian process share. gp-kernel.c has the covariances of all rows,
 * gp-evidence.c how probable parameters are, gp-fit.c finds and draws some; gp.c takes them and predicts.
 */
#ifndef SONDE_STATS_GP_PRIVATE_H
#define SONDE_STATS_GP_PRIVATE_H

#include "stats/gp.h"

#define SQRT5 2.23606797749978969641
#define JITTER 1e-8 /* of the function's variance: keeps rows that are all but equal apart */

enum { PARAMETERS = 3 }; /* besides the scales */

/* Everything an evaluation of the evidence needs, made once a fit. */
struct gp_evidence {
	const struct stats_gp_data *data;
	const struct stats_gp_prior *prior;
	size_t pairs;
	double *squares;                         /* dims x pairs: squared differences, rows i > j, pair after pair */
	double *joint, *additive, *slope, *rest; /* pairs: covariances, -d(joint)/d(r^2/2), scratch */
	double *l, *inverse, *scratch, *alpha, *ones;
	double mean;
};

/* The parameters as they are used. */
struct gp_settings {
	double inverse_scale2[STATS_GP_DIMS];
	double variance, additive, noise;
	double share;   /* of the additive variance, a coordinate's */
	double sharper; /* scales of a coordinate alone: by this, squared and halved */
};

/* Covariance of the noise of two rows, by that of one measurement. */
static inline double gp_noise_of(const struct stats_gp_data *data, size_t i, size_t j)
{
	if (data->shared && i < data->shared_rows && j < data->shared_rows)
		return data->shared[i * data->shared_rows + j];
	return i != j ? 0 : data->noise ? data->noise[i] : 1;
}

/* prior: NULL where no evidence is asked for. -ENOMEM. */
int gp_evidence_init(struct gp_evidence *e, const struct stats_gp_data *data, const struct stats_gp_prior *prior,
		struct arena *arena);
void gp_settle(struct gp_settings *s, const struct stats_gp_parameters *q, size_t dims);
/* The covariance of all rows into l; joint, additive and slope on the way. */
void gp_fill_covariance(struct gp_evidence *e, const struct gp_settings *s);

/* mean and alpha from the factor in l; the quadratic form of the likelihood. */
double gp_solve(struct gp_evidence *e);
/* Both with the gradient in the order of theta (scales, variance, additive, noise) where it is not NULL. */
double gp_log_likelihood(struct gp_evidence *e, const struct stats_gp_parameters *q, double *gradient);
double gp_log_posterior(struct gp_evidence *e, const struct stats_gp_parameters *q, double *gradient);

/* -EINVAL: no rows, too many, or something in them is no finite number. */
int gp_check(const struct stats_gp_data *data, struct sonde_err *err);

#endif
