/* The covariances of a Gaussian process's rows; see gp.h for the two kernels. */
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
