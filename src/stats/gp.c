/*
 * gp: see gp.h. The gradient of the evidence is that of Rasmussen and Williams,
 * section 5.4; the constant mean is the generalised least squares one, profiled out.
 */
#include "stats/gp.h"

#include "stats/matrix.h"
#include "stats/minimize.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define SQRT5 2.23606797749978969641
#define LOG_2PI 1.83787706640934548356
#define JITTER 1e-8 /* of the function's variance: keeps rows that are all but equal apart */

/* Everything an evaluation of the evidence needs, made once a fit. */
struct evidence {
	const struct stats_gp_data *data;
	const struct stats_gp_prior *prior;
	size_t pairs;
	double *squares;   /* dims x pairs: squared differences, rows i > j, pair after pair */
	double *r, *slope; /* pairs */
	double *l, *inverse, *scratch, *alpha, *ones;
	double mean;
};

void stats_gp_prior_usual(struct stats_gp_prior *prior, const struct stats_gp_data *data)
{
	double centre = log(0.3) + 0.5 * log((double)data->dims);

	for (size_t j = 0; j < data->dims; j++)
		prior->scale_mean[j] = data->is_category && data->is_category[j] ? centre + log(2.0) : centre;
	prior->scale_sd = 1;
	prior->variance_sd = 0.5;
	prior->noise_mean = -4;
	prior->noise_sd = 2;
}

static double difference(const struct stats_gp_data *data, size_t j, double a, double b)
{
	if (data->is_category && data->is_category[j])
		return a != b;
	return a - b;
}

static void fill_squares(struct evidence *e)
{
	const struct stats_gp_data *data = e->data;

	for (size_t k = 0; k < data->dims; k++) {
		double *out = e->squares + k * e->pairs;

		for (size_t i = 1; i < data->n; i++)
			for (size_t j = 0; j < i; j++) {
				double d = difference(data, k, data->x[i * data->dims + k],
						data->x[j * data->dims + k]);

				*out++ = d * d;
			}
	}
}

static int evidence_init(struct evidence *e, const struct stats_gp_data *data, const struct stats_gp_prior *prior,
		struct arena *arena)
{
	size_t n = data->n;
	double *room;

	e->data = data;
	e->prior = prior;
	e->pairs = n * (n - 1) / 2;
	room = arena_alloc(arena, sizeof(double) * ((data->dims + 2) * (e->pairs + 1) + 3 * n * n + 2 * n));
	if (!room)
		return -ENOMEM;
	e->squares = room;
	e->r = e->squares + data->dims * e->pairs;
	e->slope = e->r + e->pairs;
	e->l = e->slope + e->pairs;
	e->inverse = e->l + n * n;
	e->scratch = e->inverse + n * n;
	e->alpha = e->scratch + n * n;
	e->ones = e->alpha + n;
	fill_squares(e);
	return 0;
}

static double noise_of(const struct stats_gp_data *data, size_t i, double noise)
{
	return data->noise ? noise * data->noise[i] : noise;
}

/* The covariance of all rows into l, and for the gradient -dk/d(r^2/2) of each pair into slope. */
static void fill_covariance(struct evidence *e, const double *inverse_scale2, double variance, double noise)
{
	size_t n = e->data->n, p = 0;

	memset(e->r, 0, e->pairs * sizeof(*e->r));
	for (size_t k = 0; k < e->data->dims; k++)
		stats_axpy(e->r, inverse_scale2[k], e->squares + k * e->pairs, e->pairs);
	for (size_t q = 0; q < e->pairs; q++)
		e->r[q] = SQRT5 * sqrt(e->r[q]);
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < i; j++, p++) {
			double r = e->r[p], fall = variance * exp(-r);

			e->l[i * n + j] = fall * (1 + r + r * r / 3);
			e->slope[p] = fall * (1 + r) * (5.0 / 3);
		}
		e->l[i * n + i] = variance * (1 + JITTER) + noise_of(e->data, i, noise);
	}
}

/* mean and alpha from the factor in l; the quadratic form of the likelihood. */
static double solve(struct evidence *e)
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

/* d(likelihood)/d(log parameters), given the factor and alpha. Spoils slope. */
static void likelihood_gradient(struct evidence *e, const struct stats_gp_parameters *q, const double *inverse_scale2,
		double *gradient)
{
	const struct stats_gp_data *data = e->data;
	size_t n = data->n, p = 0;
	double noise = exp(q->noise), by_noise = 0, trace = 0;

	stats_cholesky_inverse(e->l, n, e->scratch, e->inverse);
	for (size_t i = 0; i < n; i++) {
		const double *row = e->inverse + i * n;
		double own = row[i] - e->alpha[i] * e->alpha[i];

		for (size_t j = 0; j < i; j++, p++)
			e->slope[p] *= e->alpha[i] * e->alpha[j] - row[j];
		by_noise -= own * noise_of(data, i, noise);
		trace += e->alpha[i] * (data->y[i] - e->mean) - 1; /* of (alpha alpha' - inverse) * covariance */
	}
	for (size_t k = 0; k < data->dims; k++)
		gradient[k] = inverse_scale2[k] * stats_dot(e->slope, e->squares + k * e->pairs, e->pairs);
	/* What is not noise is the function's: the covariance is the sum of both. */
	gradient[data->dims] = 0.5 * (trace - by_noise);
	gradient[data->dims + 1] = 0.5 * by_noise;
}

static double square(double x)
{
	return x * x;
}

static double log_prior(const struct stats_gp_prior *prior, const struct stats_gp_parameters *q, size_t dims,
		double *gradient)
{
	double sum = square(q->variance / prior->variance_sd) +
			square((q->noise - prior->noise_mean) / prior->noise_sd);

	for (size_t k = 0; k < dims; k++) {
		double z = (q->scale[k] - prior->scale_mean[k]) / prior->scale_sd;

		sum += z * z;
		if (gradient)
			gradient[k] -= z / prior->scale_sd;
	}
	if (gradient) {
		gradient[dims] -= q->variance / square(prior->variance_sd);
		gradient[dims + 1] -= (q->noise - prior->noise_mean) / square(prior->noise_sd);
	}
	return -0.5 * sum;
}

static double evaluate(struct evidence *e, const struct stats_gp_parameters *q, double *gradient)
{
	double inverse_scale2[STATS_GP_DIMS], form;
	size_t n = e->data->n;

	for (size_t k = 0; k < e->data->dims; k++)
		inverse_scale2[k] = exp(-2 * q->scale[k]);
	fill_covariance(e, inverse_scale2, exp(q->variance), exp(q->noise));
	if (!stats_cholesky(e->l, n))
		return -INFINITY;
	form = solve(e);
	if (gradient)
		likelihood_gradient(e, q, inverse_scale2, gradient);
	return -0.5 * (form + stats_cholesky_log_det(e->l, n) + (double)n * LOG_2PI) +
			log_prior(e->prior, q, e->data->dims, gradient);
}

static void unpack(struct stats_gp_parameters *q, const double *theta, size_t dims)
{
	memcpy(q->scale, theta, dims * sizeof(*theta));
	q->variance = theta[dims];
	q->noise = theta[dims + 1];
}

static double negative_evidence(const double *theta, double *gradient, void *context)
{
	struct evidence *e = context;
	struct stats_gp_parameters q;
	double value;

	unpack(&q, theta, e->data->dims);
	value = evaluate(e, &q, gradient);
	for (size_t k = 0; k < e->data->dims + 2; k++)
		gradient[k] = -gradient[k];
	return -value;
}

double stats_gp_evidence(const struct stats_gp_data *data, const struct stats_gp_prior *prior,
		const struct stats_gp_parameters *parameters, double *gradient, struct arena *arena)
{
	struct evidence e;

	if (evidence_init(&e, data, prior, arena) < 0)
		return NAN;
	return evaluate(&e, parameters, gradient);
}

static int check(const struct stats_gp_data *data, struct sonde_err *err)
{
	if (data->n == 0 || data->n > STATS_GP_ROWS || data->dims == 0 || data->dims > STATS_GP_DIMS)
		return err_set(err, EINVAL, "a Gaussian process of %zu points with %zu coordinates is not possible",
				data->n, data->dims);
	for (size_t i = 0; i < data->n; i++)
		if (!isfinite(data->y[i]))
			return err_set(err, EINVAL,
					"a Gaussian process cannot learn from a value that is no finite number");
	for (size_t i = 0; i < data->n * data->dims; i++)
		if (!isfinite(data->x[i]))
			return err_set(err, EINVAL,
					"a Gaussian process cannot learn from a point that is no finite number");
	return 0;
}

/* The best parameters from one start; its evidence. */
static double fit_from(struct evidence *e, const struct stats_gp_parameters *start, size_t evaluations, double *theta)
{
	double lo[STATS_GP_DIMS + 2], hi[STATS_GP_DIMS + 2];
	size_t dims = e->data->dims;
	struct stats_minimize m = { .function = negative_evidence,
		.context = e,
		.lo = lo,
		.hi = hi,
		.dims = dims + 2,
		.evaluations = evaluations,
		.tolerance = 2e-3 };

	memcpy(theta, start->scale, dims * sizeof(*theta));
	theta[dims] = start->variance;
	theta[dims + 1] = start->noise;
	for (size_t k = 0; k < dims + 2; k++) {
		lo[k] = k == dims + 1 ? log(1e-7) : -5;
		hi[k] = k == dims + 1 ? log(2.0) : 6;
	}
	return -stats_minimize(&m, theta);
}

int stats_gp_fit(struct stats_gp *gp, const struct stats_gp_data *data, const struct stats_gp_prior *prior,
		const struct stats_gp_parameters *starts, size_t start_count, size_t evaluations, struct arena *arena,
		struct sonde_err *err)
{
	double theta[STATS_GP_DIMS + 2], best = -INFINITY;
	struct stats_gp_parameters chosen = starts[0];
	struct evidence e;
	int rc = check(data, err);

	if (rc < 0)
		return rc;
	if (evidence_init(&e, data, prior, arena) < 0)
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

int stats_gp_condition(struct stats_gp *gp, const struct stats_gp_data *data,
		const struct stats_gp_parameters *parameters, struct arena *arena, struct sonde_err *err)
{
	struct evidence e;
	int rc = check(data, err);

	if (rc < 0)
		return rc;
	gp->data = *data;
	gp->parameters = *parameters;
	gp->evidence = NAN;
	gp->variance = exp(parameters->variance);
	gp->noise = exp(parameters->noise);
	for (size_t k = 0; k < data->dims; k++)
		gp->inverse_scale2[k] = exp(-2 * parameters->scale[k]);
	gp->k = arena_alloc(arena, 2 * data->n * sizeof(*gp->k));
	if (!gp->k || evidence_init(&e, data, NULL, arena) < 0)
		return err_sys(err, ENOMEM, "cannot make a Gaussian process");
	gp->v = gp->k + data->n;
	fill_covariance(&e, gp->inverse_scale2, gp->variance, gp->noise);
	if (!stats_cholesky(e.l, data->n))
		return err_set(err, EDOM, "the points of a Gaussian process lie too close together");
	solve(&e);
	stats_cholesky_inverse(e.l, data->n, e.scratch, e.inverse);
	gp->mean = e.mean;
	gp->alpha = e.alpha;
	gp->inverse = e.inverse;
	return 0;
}

/* k(x, row i), and -dk/d(r^2/2) into slope. */
static double covariance(const struct stats_gp *gp, const double *x, size_t i, double *slope)
{
	const double *row = gp->data.x + i * gp->data.dims;
	double r2 = 0, r, fall;

	for (size_t k = 0; k < gp->data.dims; k++) {
		double d = difference(&gp->data, k, x[k], row[k]);

		r2 += d * d * gp->inverse_scale2[k];
	}
	r = SQRT5 * sqrt(r2);
	fall = gp->variance * exp(-r);
	*slope = fall * (1 + r) * (5.0 / 3);
	return fall * (1 + r + r * r / 3);
}

static void add_gradients(const struct stats_gp *gp, const double *x, size_t i, double slope, double *mean_gradient,
		double *variance_gradient)
{
	const double *row = gp->data.x + i * gp->data.dims;

	for (size_t k = 0; k < gp->data.dims; k++) {
		if (gp->data.is_category && gp->data.is_category[k])
			continue;
		double by = -slope * (x[k] - row[k]) * gp->inverse_scale2[k];

		mean_gradient[k] += gp->alpha[i] * by;
		variance_gradient[k] -= 2 * gp->v[i] * by;
	}
}

void stats_gp_predict(const struct stats_gp *gp, const double *x, double *mean, double *variance, double *mean_gradient,
		double *variance_gradient)
{
	size_t n = gp->data.n, dims = gp->data.dims;
	double slope, explained = 0;

	for (size_t i = 0; i < n; i++)
		gp->k[i] = covariance(gp, x, i, &slope);
	for (size_t i = 0; i < n; i++) {
		gp->v[i] = stats_dot(gp->inverse + i * n, gp->k, n);
		explained += gp->v[i] * gp->k[i];
	}
	*mean = gp->mean + stats_dot(gp->alpha, gp->k, n);
	*variance = fmax(gp->variance - explained, 1e-12 * gp->variance);
	if (!mean_gradient)
		return;
	memset(mean_gradient, 0, dims * sizeof(*mean_gradient));
	memset(variance_gradient, 0, dims * sizeof(*variance_gradient));
	for (size_t i = 0; i < n; i++) {
		covariance(gp, x, i, &slope);
		add_gradients(gp, x, i, slope, mean_gradient, variance_gradient);
	}
}
