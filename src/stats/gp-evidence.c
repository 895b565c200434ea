/*
 * The evidence of parameters of a Gaussian process. The gradient is that of Rasmussen and Williams, section 5.4; the
 * constant mean is the generalised least squares one, profiled out.
 */
#include "stats/gp-private.h"
#include "stats/matrix.h"

#include <math.h>

#define LOG_2PI 1.83787706640934548356

double gp_solve(struct gp_evidence *e)
{
	size_t n = e->data->n;
	double sum_y = 0, sum_one = 0, form = 0;

	for (size_t i = 0; i < n; i++)
		e->ones[i] = 1;
	stats_forward(e->l, n, e->data->y, e->alpha);
	stats_forward(e->l, n, e->ones, e->ones);
	sum_y = stats_dot(e->ones, e->alpha, n);
	sum_one = stats_dot(e->ones, e->ones, n);
	e->mean = sum_y / sum_one;
	stats_axpy(e->alpha, -e->mean, e->ones, n);
	form = stats_dot(e->alpha, e->alpha, n);
	stats_backward(e->l, n, e->alpha, e->alpha);
	return form;
}

/* Derivative of the likelihood by each covariance: alpha alpha' - inverse, pairs into rest; sums over the diagonal,
 * and over all with the noise. */
static void weigh_pairs(struct gp_evidence *e, double noise, double *own, double *own_noise)
{
	size_t n = e->data->n, p = 0;

	stats_cholesky_inverse(e->l, n, e->scratch, e->inverse);
	*own = *own_noise = 0;
	for (size_t i = 0; i < n; i++) {
		const double *row = e->inverse + i * n;
		double weight = e->alpha[i] * e->alpha[i] - row[i];

		for (size_t j = 0; j < i; j++, p++)
			e->rest[p] = e->alpha[i] * e->alpha[j] - row[j];
		*own += weight;
		*own_noise += weight * noise * gp_noise_of(e->data, i, i);
		for (size_t j = 0; e->data->shared && j < i; j++)
			*own_noise += 2 * e->rest[p - i + j] * noise * gp_noise_of(e->data, i, j);
	}
}

/* Gradient of the scale of coordinate k, through both kernels. */
static double scale_gradient(const struct gp_evidence *e, const struct gp_settings *s, size_t k)
{
	const double *squares = e->squares + k * e->pairs;
	double by = s->sharper * s->inverse_scale2[k], sum = 0;

	for (size_t p = 0; p < e->pairs; p++) {
		double u = by * squares[p], t = 1 / (1 + u);

		sum += e->rest[p] * u * t * t;
	}
	return s->inverse_scale2[k] * stats_dot(e->slope, squares, e->pairs) + 2 * s->share * sum;
}

/* d(likelihood)/d(log parameters), given the factor and alpha. Overwrites slope. */
STATS_WIDE static void likelihood_gradient(struct gp_evidence *e, const struct gp_settings *s, double *gradient)
{
	size_t dims = e->data->dims;
	double own, own_noise;

	weigh_pairs(e, s->noise, &own, &own_noise);
	for (size_t p = 0; p < e->pairs; p++)
		e->slope[p] *= e->rest[p];
	for (size_t k = 0; k < dims; k++)
		gradient[k] = scale_gradient(e, s, k);
	gradient[dims] = stats_dot(e->rest, e->joint, e->pairs) + 0.5 * own * s->variance * (1 + JITTER);
	gradient[dims + 1] = stats_dot(e->rest, e->additive, e->pairs) + 0.5 * own * s->additive;
	gradient[dims + 2] = 0.5 * own_noise;
}

/* log N(value; mean, sd) up to a constant; adds its slope. */
static double log_normal(double value, double mean, double sd, double *gradient)
{
	double z = (value - mean) / sd;

	if (gradient)
		*gradient -= z / sd;
	return -0.5 * z * z;
}

static double log_prior(const struct stats_gp_prior *prior, const struct stats_gp_parameters *q, size_t dims,
		double *gradient)
{
	double sum = 0;

	for (size_t k = 0; k < dims; k++)
		sum += log_normal(q->scale[k], prior->scale_mean[k], prior->scale_sd, gradient ? gradient + k : NULL);
	sum += log_normal(q->variance, prior->variance_mean, prior->variance_sd, gradient ? gradient + dims : NULL);
	sum += log_normal(q->additive, prior->additive_mean, prior->additive_sd, gradient ? gradient + dims + 1 : NULL);
	sum += log_normal(q->noise, prior->noise_mean, prior->noise_sd, gradient ? gradient + dims + 2 : NULL);
	return sum;
}

double gp_log_likelihood(struct gp_evidence *e, const struct stats_gp_parameters *q, double *gradient)
{
	struct gp_settings s;
	size_t n = e->data->n;
	double form;

	gp_settle(&s, q, e->data->dims);
	gp_fill_covariance(e, &s);
	if (!stats_cholesky(e->l, n))
		return -INFINITY;
	form = gp_solve(e);
	if (gradient)
		likelihood_gradient(e, &s, gradient);
	return -0.5 * (form + stats_cholesky_log_det(e->l, n) + (double)n * LOG_2PI);
}

double gp_log_posterior(struct gp_evidence *e, const struct stats_gp_parameters *q, double *gradient)
{
	double value = gp_log_likelihood(e, q, gradient);

	return isinf(value) ? value : value + log_prior(e->prior, q, e->data->dims, gradient);
}

double stats_gp_evidence(const struct stats_gp_data *data, const struct stats_gp_prior *prior,
		const struct stats_gp_parameters *parameters, double *gradient, struct arena *arena)
{
	struct gp_evidence e;

	if (gp_evidence_init(&e, data, prior, arena) < 0)
		return NAN;
	return gp_log_posterior(&e, parameters, gradient);
}
