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
enum { PARAMETERS = 3 }; /* besides the scales */

#define JITTER 1e-8 /* of the function's variance: keeps rows that are all but equal apart */

/* Everything an evaluation of the evidence needs, made once a fit. */
struct evidence {
	const struct stats_gp_data *data;
	const struct stats_gp_prior *prior;
	size_t pairs;
	double *squares;                         /* dims x pairs: squared differences, rows i > j, pair after pair */
	double *joint, *additive, *slope, *rest; /* pairs: covariances, -d(joint)/d(r^2/2), scratch */
	double *l, *inverse, *scratch, *alpha, *ones;
	double mean;
};

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
	room = arena_alloc(arena, sizeof(double) * ((data->dims + 4) * (e->pairs + 1) + 3 * n * n + 2 * n));
	if (!room)
		return -ENOMEM;
	e->squares = room;
	e->joint = e->squares + data->dims * e->pairs;
	e->additive = e->joint + e->pairs;
	e->slope = e->additive + e->pairs;
	e->rest = e->slope + e->pairs;
	e->l = e->rest + e->pairs;
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

/* The parameters as they are used. */
struct settings {
	double inverse_scale2[STATS_GP_DIMS];
	double variance, additive, noise;
	double share;   /* of the additive variance, a coordinate's */
	double sharper; /* scales of a coordinate alone: by this, squared and halved */
};

static void settle(struct settings *s, const struct stats_gp_parameters *q, size_t dims)
{
	for (size_t k = 0; k < dims; k++)
		s->inverse_scale2[k] = exp(-2 * q->scale[k]);
	s->variance = exp(q->variance);
	s->additive = exp(q->additive);
	s->noise = exp(q->noise);
	s->share = s->additive / (double)dims;
	s->sharper = 0.5 * (double)dims;
}

static void fill_additive(struct evidence *e, const struct settings *s)
{
	memset(e->additive, 0, e->pairs * sizeof(*e->additive));
	for (size_t k = 0; k < e->data->dims; k++) {
		const double *squares = e->squares + k * e->pairs;
		double by = s->sharper * s->inverse_scale2[k];

		for (size_t p = 0; p < e->pairs; p++)
			e->additive[p] += s->share / (1 + by * squares[p]);
	}
}

static void fill_joint(struct evidence *e, const struct settings *s)
{
	memset(e->rest, 0, e->pairs * sizeof(*e->rest));
	for (size_t k = 0; k < e->data->dims; k++)
		stats_axpy(e->rest, s->inverse_scale2[k], e->squares + k * e->pairs, e->pairs);
	for (size_t p = 0; p < e->pairs; p++)
		e->rest[p] = SQRT5 * sqrt(e->rest[p]);
	for (size_t p = 0; p < e->pairs; p++) {
		double r = e->rest[p], fall = s->variance * exp(-r);

		e->joint[p] = fall * (1 + r + r * r / 3);
		e->slope[p] = fall * (1 + r) * (5.0 / 3);
	}
}

/* The covariance of all rows into l. */
static void fill_covariance(struct evidence *e, const struct settings *s)
{
	size_t n = e->data->n, p = 0;

	fill_joint(e, s);
	fill_additive(e, s);
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < i; j++, p++)
			e->l[i * n + j] = e->joint[p] + e->additive[p];
		e->l[i * n + i] = s->variance * (1 + JITTER) + s->additive + noise_of(e->data, i, s->noise);
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

/* How the likelihood changes with each covariance: alpha alpha' - inverse, pairs into rest; sums over the diagonal. */
static void weigh_pairs(struct evidence *e, double noise, double *own, double *own_noise)
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
		*own_noise += weight * noise_of(e->data, i, noise);
	}
}

/* Of the scale of coordinate k: through both kernels. */
static double scale_gradient(const struct evidence *e, const struct settings *s, size_t k)
{
	const double *squares = e->squares + k * e->pairs;
	double by = s->sharper * s->inverse_scale2[k], sum = 0;

	for (size_t p = 0; p < e->pairs; p++) {
		double u = by * squares[p], t = 1 / (1 + u);

		sum += e->rest[p] * u * t * t;
	}
	return s->inverse_scale2[k] * stats_dot(e->slope, squares, e->pairs) + 2 * s->share * sum;
}

/* d(likelihood)/d(log parameters), given the factor and alpha. Spoils slope. */
static void likelihood_gradient(struct evidence *e, const struct settings *s, double *gradient)
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

/* log N(value; mean, sd) up to a constant; its slope is added. */
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

static double log_likelihood(struct evidence *e, const struct stats_gp_parameters *q, double *gradient)
{
	struct settings s;
	size_t n = e->data->n;
	double form;

	settle(&s, q, e->data->dims);
	fill_covariance(e, &s);
	if (!stats_cholesky(e->l, n))
		return -INFINITY;
	form = solve(e);
	if (gradient)
		likelihood_gradient(e, &s, gradient);
	return -0.5 * (form + stats_cholesky_log_det(e->l, n) + (double)n * LOG_2PI);
}

static double evaluate(struct evidence *e, const struct stats_gp_parameters *q, double *gradient)
{
	double value = log_likelihood(e, q, gradient);

	return isinf(value) ? value : value + log_prior(e->prior, q, e->data->dims, gradient);
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
	struct evidence *e = context;
	struct stats_gp_parameters q;
	double value;

	unpack(&q, theta, e->data->dims);
	value = evaluate(e, &q, gradient);
	for (size_t k = 0; k < e->data->dims + PARAMETERS; k++)
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

/* One step: somewhere on the ellipse through theta and a draw of the prior, as likely as a level under theta's. */
static void slice_step(struct evidence *e, double *theta, double *value, struct stats_rng *rng)
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
		likelihood = log_likelihood(e, &q, NULL);
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
	struct evidence e;

	if (evidence_init(&e, data, prior, arena) < 0)
		return -ENOMEM;
	pack(parameters, theta, data->dims);
	value = log_likelihood(&e, parameters, NULL);
	for (size_t i = 0; i < steps && isfinite(value); i++)
		slice_step(&e, theta, &value, rng);
	unpack(parameters, theta, data->dims);
	return 0;
}

int stats_gp_condition(struct stats_gp *gp, const struct stats_gp_data *data,
		const struct stats_gp_parameters *parameters, struct arena *arena, struct sonde_err *err)
{
	struct settings s;
	struct evidence e;
	int rc = check(data, err);

	if (rc < 0)
		return rc;
	gp->data = *data;
	gp->parameters = *parameters;
	gp->evidence = NAN;
	settle(&s, parameters, data->dims);
	gp->variance = s.variance;
	gp->additive = s.additive;
	gp->noise = s.noise;
	memcpy(gp->inverse_scale2, s.inverse_scale2, sizeof(gp->inverse_scale2));
	gp->k = arena_alloc(arena, (data->dims + 4) * data->n * sizeof(*gp->k));
	if (!gp->k || evidence_init(&e, data, NULL, arena) < 0)
		return err_sys(err, ENOMEM, "cannot make a Gaussian process");
	gp->v = gp->k + data->n;
	gp->slope = gp->v + data->n;
	gp->d = gp->slope + data->n;
	gp->columns = gp->d + data->n;
	for (size_t i = 0; i < data->n; i++)
		for (size_t k = 0; k < data->dims; k++)
			gp->columns[k * data->n + i] = data->x[i * data->dims + k];
	fill_covariance(&e, &s);
	if (!stats_cholesky(e.l, data->n))
		return err_set(err, EDOM, "the points of a Gaussian process lie too close together");
	solve(&e);
	stats_cholesky_inverse(e.l, data->n, e.scratch, e.inverse);
	gp->mean = e.mean;
	gp->alpha = e.alpha;
	gp->inverse = e.inverse;
	return 0;
}

/* Coordinate k of x less that of every row. */
static void differences(const struct stats_gp *gp, const double *x, size_t k, double *d)
{
	const double *column = gp->columns + k * gp->data.n;
	bool is_category = gp->data.is_category && gp->data.is_category[k];

	for (size_t i = 0; i < gp->data.n; i++)
		d[i] = is_category ? (double)(x[k] != column[i]) : x[k] - column[i];
}

/* The covariance of x with every row into k, and -d(joint)/d(r^2/2) into slope. */
static void covariances(const struct stats_gp *gp, const double *x)
{
	size_t n = gp->data.n;
	double sharper = 0.5 * (double)gp->data.dims, share = gp->additive / (double)gp->data.dims, *r2 = gp->slope;

	memset(gp->k, 0, n * sizeof(*gp->k));
	memset(r2, 0, n * sizeof(*r2));
	for (size_t k = 0; k < gp->data.dims; k++) {
		double by = gp->inverse_scale2[k];

		differences(gp, x, k, gp->d);
		for (size_t i = 0; i < n; i++) {
			double u = gp->d[i] * gp->d[i] * by;

			r2[i] += u;
			gp->k[i] += share / (1 + sharper * u);
		}
	}
	for (size_t i = 0; i < n; i++) {
		double r = SQRT5 * sqrt(r2[i]), fall = gp->variance * exp(-r);

		gp->k[i] += fall * (1 + r + r * r / 3);
		gp->slope[i] = fall * (1 + r) * (5.0 / 3);
	}
}

/* How mean and variance change with coordinate k, after covariances. */
static void gradient_of(const struct stats_gp *gp, const double *x, size_t k, double *by_mean, double *by_variance)
{
	double sharper = 0.5 * (double)gp->data.dims, by = gp->inverse_scale2[k];

	differences(gp, x, k, gp->d);
	for (size_t i = 0; i < gp->data.n; i++) {
		double t = 1 / (1 + sharper * gp->d[i] * gp->d[i] * by);

		/* 2 * sharper * share is the additive variance */
		gp->d[i] *= -(gp->additive * t * t + gp->slope[i]) * by;
	}
	*by_mean = stats_dot(gp->alpha, gp->d, gp->data.n);
	*by_variance = -2 * stats_dot(gp->v, gp->d, gp->data.n);
}

void stats_gp_predict(const struct stats_gp *gp, const double *x, double *mean, double *variance, double *mean_gradient,
		double *variance_gradient)
{
	size_t n = gp->data.n;
	double explained = 0, all = gp->variance + gp->additive;

	covariances(gp, x);
	for (size_t i = 0; i < n; i++) {
		gp->v[i] = stats_dot(gp->inverse + i * n, gp->k, n);
		explained += gp->v[i] * gp->k[i];
	}
	*mean = gp->mean + stats_dot(gp->alpha, gp->k, n);
	*variance = fmax(all - explained, 1e-12 * all);
	for (size_t k = 0; mean_gradient && k < gp->data.dims; k++) {
		if (gp->data.is_category && gp->data.is_category[k])
			mean_gradient[k] = variance_gradient[k] = 0;
		else
			gradient_of(gp, x, k, &mean_gradient[k], &variance_gradient[k]);
	}
}
