/*
 * Parameters of a Gaussian process: their evidence, the most probable ones, and samples of their posterior. The
 * gradient is that of Rasmussen and Williams, section 5.4; the constant mean is the generalised least squares one,
 * profiled out.
 */
#include "stats/gp-private.h"

#include "stats/matrix.h"
#include "stats/minimize.h"

#include <errno.h>
#include <math.h>
#include <string.h>

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

void stats_gp_prior_usual(struct stats_gp_prior *prior, const struct stats_gp_data *data)
{
	double centre = log(0.3) + 0.5 * log((double)data->dims);

	for (size_t j = 0; j < data->dims; j++)
		prior->scale_mean[j] = data->is_category && data->is_category[j] ? centre + log(2.0) : centre;
	prior->scale_sd = 1;
	prior->variance_mean = log(0.6);
	prior->variance_sd = 0.7;
	prior->additive_mean = log(0.4);
	prior->additive_sd = 1;
	prior->noise_mean = -4;
	prior->noise_sd = 2;
}

static void unpack(struct stats_gp_parameters *q, const double *theta, size_t dims)
{
	memcpy(q->scale, theta, dims * sizeof(*theta));
	q->variance = theta[dims];
	q->additive = theta[dims + 1];
	q->noise = theta[dims + 2];
}

static void pack(const struct stats_gp_parameters *q, double *theta, size_t dims)
{
	memcpy(theta, q->scale, dims * sizeof(*theta));
	theta[dims] = q->variance;
	theta[dims + 1] = q->additive;
	theta[dims + 2] = q->noise;
}

static double negative_evidence(const double *theta, double *gradient, void *context)
{
	struct gp_evidence *e = context;
	struct stats_gp_parameters q;
	double value;

	unpack(&q, theta, e->data->dims);
	value = gp_log_posterior(e, &q, gradient);
	for (size_t k = 0; k < e->data->dims + PARAMETERS; k++)
		gradient[k] = -gradient[k];
	return -value;
}

/* Finds the best parameters from one start; returns their evidence. */
static double fit_from(struct gp_evidence *e, const struct stats_gp_parameters *start, size_t evaluations,
		double *theta)
{
	double lo[STATS_GP_DIMS + PARAMETERS], hi[STATS_GP_DIMS + PARAMETERS];
	size_t dims = e->data->dims;
	struct stats_minimize m = { .function = negative_evidence,
		.context = e,
		.lo = lo,
		.hi = hi,
		.dims = dims + PARAMETERS,
		.evaluations = evaluations,
		.tolerance = 2e-3 };

	pack(start, theta, dims);
	for (size_t k = 0; k < dims + PARAMETERS; k++) {
		lo[k] = k == dims + 2 ? log(1e-7) : -7;
		hi[k] = k == dims + 2 ? log(2.0) : 6;
	}
	return -stats_minimize(&m, theta);
}

int stats_gp_fit(struct stats_gp *gp, const struct stats_gp_data *data, const struct stats_gp_prior *prior,
		const struct stats_gp_parameters *starts, size_t start_count, size_t evaluations, struct arena *arena,
		struct sonde_err *err)
{
	double theta[STATS_GP_DIMS + PARAMETERS], best = -INFINITY;
	struct stats_gp_parameters chosen = starts[0];
	struct gp_evidence e;
	int rc = gp_check(data, err);

	if (rc < 0)
		return rc;
	if (gp_evidence_init(&e, data, prior, arena) < 0)
		return err_sys(err, ENOMEM, "cannot fit a Gaussian process");
	for (size_t s = 0; s < start_count; s++) {
		double value = fit_from(&e, &starts[s], evaluations, theta);

		if (value > best) {
			best = value;
			unpack(&chosen, theta, data->dims);
		}
	}
	rc = stats_gp_condition(gp, data, &chosen, arena, err);
	gp->evidence = best;
	return rc;
}

/* The prior's means and standard deviations, in the order of theta. */
static void prior_moments(const struct stats_gp_prior *prior, size_t dims, double *mean, double *sd)
{
	for (size_t k = 0; k < dims; k++) {
		mean[k] = prior->scale_mean[k];
		sd[k] = prior->scale_sd;
	}
	mean[dims] = prior->variance_mean;
	sd[dims] = prior->variance_sd;
	mean[dims + 1] = prior->additive_mean;
	sd[dims + 1] = prior->additive_sd;
	mean[dims + 2] = prior->noise_mean;
	sd[dims + 2] = prior->noise_sd;
}

/* One step: a point on the ellipse through theta and a draw of the prior, at least as likely as a level below
 * theta's. */
static void slice_step(struct gp_evidence *e, double *theta, double *value, struct stats_rng *rng)
{
	double mean[STATS_GP_DIMS + PARAMETERS], sd[STATS_GP_DIMS + PARAMETERS], draw[STATS_GP_DIMS + PARAMETERS];
	double tried[STATS_GP_DIMS + PARAMETERS], level = *value + log(stats_rng_open(rng));
	double angle = 2 * M_PI * stats_rng_uniform(rng), lo = angle - 2 * M_PI, hi = angle;
	size_t count = e->data->dims + PARAMETERS;

	prior_moments(e->prior, e->data->dims, mean, sd);
	for (size_t k = 0; k < count; k++)
		draw[k] = sd[k] * stats_rng_normal(rng);
	for (int i = 0; i < 30; i++) {
		struct stats_gp_parameters q;
		double likelihood;

		for (size_t k = 0; k < count; k++)
			tried[k] = mean[k] + (theta[k] - mean[k]) * cos(angle) + draw[k] * sin(angle);
		unpack(&q, tried, e->data->dims);
		likelihood = gp_log_likelihood(e, &q, NULL);
		if (likelihood > level) {
			memcpy(theta, tried, count * sizeof(*theta));
			*value = likelihood;
			return;
		}
		*(angle < 0 ? &lo : &hi) = angle;
		angle = lo + (hi - lo) * stats_rng_uniform(rng);
	}
}

int stats_gp_sample(struct stats_gp_parameters *parameters, const struct stats_gp_data *data,
		const struct stats_gp_prior *prior, size_t steps, struct stats_rng *rng, struct arena *arena)
{
	double theta[STATS_GP_DIMS + PARAMETERS], value;
	struct gp_evidence e;

	if (gp_evidence_init(&e, data, prior, arena) < 0)
		return -ENOMEM;
	pack(parameters, theta, data->dims);
	value = gp_log_likelihood(&e, parameters, NULL);
	for (size_t i = 0; i < steps && isfinite(value); i++)
		slice_step(&e, theta, &value, rng);
	unpack(parameters, theta, data->dims);
	return 0;
}
