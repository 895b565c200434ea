/* Covariances of the rows, conditioning on them and prediction; see gp.h for the two kernels. */
#include "stats/gp-private.h"

#include "stats/matrix.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static double difference(const struct stats_gp_data *data, size_t j, double a, double b)
{
	if (data->is_category && data->is_category[j])
		return a != b;
	return a - b;
}

static void fill_squares(struct gp_evidence *e)
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

int gp_evidence_init(struct gp_evidence *e, const struct stats_gp_data *data, const struct stats_gp_prior *prior,
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

void gp_settle(struct gp_settings *s, const struct stats_gp_parameters *q, size_t dims)
{
	for (size_t k = 0; k < dims; k++)
		s->inverse_scale2[k] = exp(-2 * q->scale[k]);
	s->variance = exp(q->variance);
	s->additive = exp(q->additive);
	s->noise = exp(q->noise);
	s->share = s->additive / (double)dims;
	s->sharper = 0.5 * (double)dims;
}

STATS_WIDE static void fill_additive(struct gp_evidence *e, const struct gp_settings *s)
{
	memset(e->additive, 0, e->pairs * sizeof(*e->additive));
	for (size_t k = 0; k < e->data->dims; k++) {
		const double *squares = e->squares + k * e->pairs;
		double by = s->sharper * s->inverse_scale2[k];

		for (size_t p = 0; p < e->pairs; p++)
			e->additive[p] += s->share / (1 + by * squares[p]);
	}
}

STATS_WIDE static void fill_joint(struct gp_evidence *e, const struct gp_settings *s)
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

STATS_WIDE void gp_fill_covariance(struct gp_evidence *e, const struct gp_settings *s)
{
	size_t n = e->data->n, p = 0;

	fill_joint(e, s);
	fill_additive(e, s);
	for (size_t i = 0; i < n; i++) {
		for (size_t j = 0; j < i; j++, p++)
			e->l[i * n + j] = e->joint[p] + e->additive[p];
		e->l[i * n + i] = s->variance * (1 + JITTER) + s->additive + s->noise * gp_noise_of(e->data, i, i);
	}
	for (size_t i = 1; e->data->shared && i < e->data->shared_rows; i++)
		for (size_t j = 0; j < i; j++)
			e->l[i * n + j] += s->noise * gp_noise_of(e->data, i, j);
}

int gp_check(const struct stats_gp_data *data, struct sonde_err *err)
{
	if (data->n == 0 || data->n > STATS_GP_ROWS || data->dims == 0 || data->dims > STATS_GP_DIMS)
		return err_set(err, EINVAL, "a Gaussian process of %zu points with %zu coordinates is not possible",
				data->n, data->dims);
	for (size_t i = 0; i < data->n; i++)
		if (!isfinite(data->y[i]))
			return err_set(err, EINVAL, "a value of a Gaussian process must be finite");
	for (size_t i = 0; i < data->n * data->dims; i++)
		if (!isfinite(data->x[i]))
			return err_set(err, EINVAL, "a point of a Gaussian process must be finite");
	return 0;
}

int stats_gp_condition(struct stats_gp *gp, const struct stats_gp_data *data,
		const struct stats_gp_parameters *parameters, struct arena *arena, struct sonde_err *err)
{
	struct gp_settings s;
	struct gp_evidence e;
	int rc = gp_check(data, err);

	if (rc < 0)
		return rc;
	gp->data = *data;
	gp->parameters = *parameters;
	gp->evidence = NAN;
	gp->to = NULL;
	gp_settle(&s, parameters, data->dims);
	gp->variance = s.variance;
	gp->additive = s.additive;
	gp->noise = s.noise;
	memcpy(gp->inverse_scale2, s.inverse_scale2, sizeof(gp->inverse_scale2));
	gp->k = arena_alloc(arena, (data->dims + 4) * data->n * sizeof(*gp->k));
	if (!gp->k || gp_evidence_init(&e, data, NULL, arena) < 0)
		return err_sys(err, ENOMEM, "cannot create a Gaussian process");
	gp->v = gp->k + data->n;
	gp->slope = gp->v + data->n;
	gp->d = gp->slope + data->n;
	gp->columns = gp->d + data->n;
	for (size_t i = 0; i < data->n; i++)
		for (size_t k = 0; k < data->dims; k++)
			gp->columns[k * data->n + i] = data->x[i * data->dims + k];
	gp_fill_covariance(&e, &s);
	if (!stats_cholesky(e.l, data->n))
		return err_set(err, EDOM, "the points of a Gaussian process lie too close together");
	gp_solve(&e);
	stats_cholesky_inverse(e.l, data->n, e.scratch, e.inverse);
	gp->mean = e.mean;
	gp->alpha = e.alpha;
	gp->inverse = e.inverse;
	return 0;
}

/* Coordinate k of x minus that of every row. */
static void differences(const struct stats_gp *gp, const double *x, size_t k, double *d)
{
	const double *column = gp->columns + k * gp->data.n;
	bool is_category = gp->data.is_category && gp->data.is_category[k];

	for (size_t i = 0; i < gp->data.n; i++)
		d[i] = is_category ? (double)(x[k] != column[i]) : x[k] - column[i];
}

/* The covariance of x with every row into k, and -d(joint)/d(r^2/2) into slope. */
STATS_WIDE static void covariances(const struct stats_gp *gp, const double *x)
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

/* Derivatives of mean and variance by coordinate k, after covariances. */
STATS_WIDE static void gradient_of(const struct stats_gp *gp, const double *x, size_t k, double *by_mean,
		double *by_variance)
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
	if (gp->to)
		*by_variance -= 2 * stats_dot(gp->to, gp->d, gp->data.n);
}

STATS_WIDE void stats_gp_predict(const struct stats_gp *gp, const double *x, double *mean, double *variance,
		double *mean_gradient, double *variance_gradient)
{
	size_t n = gp->data.n;
	double explained = 0, all = gp->variance + gp->additive;

	covariances(gp, x);
	for (size_t i = 0; i < n; i++) {
		gp->v[i] = stats_dot(gp->inverse + i * n, gp->k, n);
		explained += gp->v[i] * gp->k[i];
	}
	*mean = gp->mean + stats_dot(gp->alpha, gp->k, n);
	*variance = all - explained;
	if (gp->to)
		*variance += gp->to_variance - 2 * stats_dot(gp->to, gp->k, n);
	*variance = fmax(*variance, 1e-12 * all);
	for (size_t k = 0; mean_gradient && k < gp->data.dims; k++) {
		if (gp->data.is_category && gp->data.is_category[k])
			mean_gradient[k] = variance_gradient[k] = 0;
		else
			gradient_of(gp, x, k, &mean_gradient[k], &variance_gradient[k]);
	}
}

int stats_gp_relate(struct stats_gp *gp, size_t row, struct arena *arena)
{
	size_t n = gp->data.n;
	double *to = arena_alloc(arena, n * sizeof(*to)), mean;

	if (!to)
		return -ENOMEM;
	gp->to = NULL;
	stats_gp_predict(gp, gp->data.x + row * gp->data.dims, &mean, &gp->to_variance, NULL, NULL);
	for (size_t i = 0; i < n; i++)
		to[i] = (i == row) - gp->v[i];
	gp->to = to;
	return 0;
}
