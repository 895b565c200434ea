#include "tune/model.h"

#include "stats/matrix.h"
#include "stats/rng.h"
#include "stats/summary.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/*
 * Costs of paired trials on one scale.
 *
 * A paired trial has a ratio to another trial, which has a ratio to a third. The logarithms of all
 * costs are the least squares solution of all ratios, so a later measurement of a rival improves
 * all trials paired with it. The inverse of the normal matrix is the covariance of the rows'
 * errors.
 */

#define FIRM 1000.0 /* weight of the reference trial: its value is exact by definition */

/* The normal equations, the lower triangle. */
struct levels {
	size_t n;
	double *normal, *right;
	double sign; /* sign of the cost: -1 for a maximized value */
};

/* Row i is relative to row j, or absolute (n). */
static void add(struct levels *l, size_t i, size_t j, double weight, double value)
{
	l->normal[i * l->n + i] += weight;
	l->right[i] += weight * value;
	if (j == l->n)
		return;
	l->normal[j * l->n + j] += weight;
	l->right[j] -= weight * value;
	l->normal[(i > j ? i : j) * l->n + (i > j ? j : i)] -= weight;
}

static bool has_pairs(const struct tune_optimizer *o)
{
	for (size_t t = 0; t < o->count; t++)
		if (o->trials[t].result.beside)
			return true;
	return false;
}

/* Adds the measurement of one trial: the ratio to the trial that it was paired with, or else its cost. */
static void add_trial(struct levels *l, const struct tune_model *m, const struct tune_optimizer *o,
		const struct tune_trial *trial, double cost)
{
	const struct tune_result *result = &trial->result;
	const struct tune_trial *other = result->beside ? tune_find(o, result->beside) : NULL;
	size_t row = tune_model_row(m, o, trial->point), beside = other ? tune_model_row(m, o, other->point) : l->n;
	double repeats = result->repeats ? result->repeats : 1;

	if (row == l->n)
		return;
	if (other == trial) /* the reference */
		add(l, row, l->n, FIRM, l->sign * log(l->sign * cost));
	else if (beside == l->n)
		add(l, row, l->n, repeats, l->sign * log(l->sign * cost));
	else if (row != beside) /* a pair of equal configurations has no information */
		add(l, row, beside, repeats / 2, l->sign * log(result->ratio));
}

/* Sets y, noise and shared of the model's rows; unchanged without paired trials. -ENOMEM. */
static int level_rows(struct tune_model *m, const struct tune_optimizer *o, const double *cost, struct arena *arena)
{
	struct levels l = { .n = m->n, .sign = o->options.is_maximized[0] ? -1 : 1 };
	double *scratch, *inverse;

	if (!has_pairs(o))
		return 0;
	l.normal = arena_alloc(arena, (3 * m->n + 1) * m->n * sizeof(double));
	if (!l.normal)
		return -ENOMEM;
	scratch = l.normal + m->n * m->n;
	inverse = scratch + m->n * m->n;
	l.right = inverse + m->n * m->n;
	for (size_t t = 0; t < o->count; t++)
		if (!isnan(cost[t]))
			add_trial(&l, m, o, &o->trials[t], cost[t]);
	if (!stats_cholesky(l.normal, m->n)) /* an edited journal: some row has no reference */
		return 0;
	stats_forward(l.normal, m->n, l.right, l.right);
	stats_backward(l.normal, m->n, l.right, l.right);
	stats_cholesky_inverse(l.normal, m->n, scratch, inverse);
	for (size_t i = 0; i < m->n; i++) {
		m->y[i] = l.sign * exp(l.sign * l.right[i]);
		m->noise[i] = inverse[i * m->n + i];
	}
	m->shared = inverse;
	return 0;
}

enum { ROWS_MAX = 500, SOME = 30, MANY = 45, EVALUATIONS = 36, ENSEMBLE_BUDGET = 4000, SAMPLE_STEPS = 4 };

/* The prior weight of an earlier study, and the number of trials that prior counts as. */
#define EARLIER_WEIGHT 0.7
#define EARLIER_TRIALS 3.0

static int make_room(struct tune_model *m, const struct tune_optimizer *o, struct arena *arena)
{
	size_t n = o->count + 1;

	m->points = arena_alloc(arena, n * sizeof(*m->points));
	m->trials = arena_alloc(arena, n * sizeof(*m->trials));
	m->x = arena_alloc(arena, n * o->space->count * sizeof(double));
	m->y = arena_alloc(arena, n * sizeof(double));
	m->noise = arena_alloc(arena, n * sizeof(double));
	for (size_t j = 0; j < o->space->count; j++)
		m->is_category[j] = tune_param_is_category(&o->space->params[j]);
	return m->points && m->trials && m->x && m->y && m->noise ? 0 : -ENOMEM;
}

size_t tune_model_row(const struct tune_model *m, const struct tune_optimizer *o, const double *point)
{
	size_t i = 0;

	while (i < m->n && !tune_point_equal(o->space, m->points[i], point))
		i++;
	return i;
}

/* y holds means, noise 1 / measurements. */
static void gather(struct tune_model *m, const struct tune_optimizer *o, const double *cost)
{
	m->n = 0;
	for (size_t t = 0; t < o->count; t++) {
		const struct tune_trial *trial = &o->trials[t];
		double repeats = trial->result.repeats ? trial->result.repeats : 1, before = 0;
		size_t i;

		if (isnan(cost[t]))
			continue;
		i = tune_model_row(m, o, trial->point);
		if (i == m->n) {
			m->points[i] = trial->point;
			m->trials[i] = t;
			m->y[i] = 0;
			tune_point_coordinates(o->space, trial->point, m->x + i * o->space->count);
			m->n++;
		} else {
			before = 1 / m->noise[i];
		}
		m->y[i] += (cost[t] - m->y[i]) * repeats / (before + repeats);
		m->noise[i] = 1 / (before + repeats);
	}
}

static void move_row(struct tune_model *m, size_t to, size_t from, size_t dims)
{
	m->points[to] = m->points[from];
	m->trials[to] = m->trials[from];
	m->y[to] = m->y[from];
	m->noise[to] = m->noise[from];
	memmove(m->x + to * dims, m->x + from * dims, dims * sizeof(*m->x));
}

/* Keeps the best half of ROWS_MAX and the newest of the rest. */
static int thin(struct tune_model *m, size_t dims, struct arena *arena)
{
	double *sorted, limit;
	size_t kept = 0, others, seen = 0;

	if (m->n <= ROWS_MAX)
		return 0;
	sorted = (void *)arena_copy(arena, m->y, m->n * sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	limit = stats_quantile(sorted, m->n, 0.5 * ROWS_MAX / (double)m->n);
	others = m->n - ROWS_MAX / 2;
	for (size_t i = 0; i < m->n && kept < ROWS_MAX; i++) {
		bool is_best = m->y[i] <= limit;

		seen += !is_best;
		if (is_best || seen + ROWS_MAX / 2 > others)
			move_row(m, kept++, i, dims);
	}
	m->n = kept;
	return 0;
}

static struct stats_gp_data data_of(const struct tune_model *m, size_t dims, size_t n)
{
	return (struct stats_gp_data){ .n = n,
		.dims = dims,
		.x = m->x,
		.y = m->y,
		.noise = m->noise,
		.is_category = m->is_category,
		.shared = m->shared,
		.shared_rows = m->shared ? m->n : 0 };
}

static int fit(struct tune_model *m, const struct tune_optimizer *o, bool is_label, struct stats_gp_prior *prior,
		struct stats_rng *rng, struct arena *arena, struct sonde_err *err)
{
	struct stats_gp_data data = data_of(m, o->space->count, m->n);
	struct stats_gp_parameters starts[2];

	stats_gp_prior_usual(prior, &data);
	if (is_label) {
		prior->scale_sd = 0.3;
		prior->noise_mean = -2.5;
		prior->noise_sd = 0.5;
	}
	for (size_t s = 0; s < 2; s++) {
		for (size_t k = 0; k < data.dims; k++)
			starts[s].scale[k] = prior->scale_mean[k] + (s ? prior->scale_sd * stats_rng_normal(rng) : 0);
		starts[s].variance = prior->variance_mean;
		starts[s].additive = prior->additive_mean;
		starts[s].noise = s ? -2 : -6;
	}
	/* With many rows the likelihood is sharp, and expensive. */
	return stats_gp_fit(&m->gp, &data, prior, starts, m->n > MANY ? 1 : 2,
			m->n > SOME ? EVALUATIONS / 2 : EVALUATIONS, arena, err);
}

static int add_others(struct tune_model *m, const struct tune_optimizer *o, const struct stats_gp_prior *prior,
		struct stats_rng *rng, struct arena *arena, struct sonde_err *err)
{
	struct stats_gp_data learnt = data_of(m, o->space->count, m->n), all = m->gp.data;
	struct stats_gp_parameters q = m->gp.parameters;
	size_t afforded = ENSEMBLE_BUDGET / (m->n * m->n); /* an ensemble helps most while trials are few */
	size_t count = afforded < TUNE_ENSEMBLE ? afforded : TUNE_ENSEMBLE;

	for (m->other_count = 0; m->other_count < count; m->other_count++) {
		if (stats_gp_sample(&q, &learnt, prior, SAMPLE_STEPS, rng, arena) < 0)
			return err_sys(err, ENOMEM, "cannot fit the model");
		if (stats_gp_condition(&m->others[m->other_count], &all, &q, arena, err) < 0)
			break;
	}
	return 0;
}

/* The prediction of earlier studies at x. */
static double guess(const struct tune_model *m, const double *x, double *gradient)
{
	double sum = 0, own[STATS_GP_DIMS], ignored[STATS_GP_DIMS];

	for (size_t s = 0; s < m->warm_start_count; s++) {
		double mean, variance;

		if (m->weights[s] == 0)
			continue;
		stats_gp_predict(&m->earlier[s].gp, x, &mean, &variance, gradient ? own : NULL,
				gradient ? ignored : NULL);
		sum += m->weights[s] * mean;
		for (size_t k = 0; gradient && k < m->gp.data.dims; k++)
			gradient[k] += m->weights[s] * own[k];
	}
	return sum;
}

void tune_model_predict(const struct tune_model *m, const struct stats_gp *gp, const double *x, double *mean,
		double *variance, double *mean_gradient, double *variance_gradient)
{
	stats_gp_predict(gp, x, mean, variance, mean_gradient, variance_gradient);
	if (m->warm_start_count)
		*mean += guess(m, x, mean_gradient);
}

/*
 * The weight of each earlier study: the regression of the costs on the studies' predictions, shrunk towards
 * EARLIER_WEIGHT as if a few trials had agreed with that; a study that disagrees gets weight 0.
 */
static int weigh_earlier(struct tune_model *m, const struct tune_optimizer *o, struct arena *arena)
{
	size_t count = o->options.warm_start_count, dims = o->space->count;
	double *expected = arena_alloc(arena, (m->n + 1) * count * sizeof(*expected)), variance;
	double normal[TUNE_WARM_START_MAX * TUNE_WARM_START_MAX], right[TUNE_WARM_START_MAX];

	if (!expected)
		return -ENOMEM;
	for (size_t s = 0; s < count; s++)
		for (size_t i = 0; i < m->n; i++) {
			expected[s * m->n + i] = 0;
			if (o->options.earlier[s].has_model)
				stats_gp_predict(&o->options.earlier[s].gp, m->x + i * dims, &expected[s * m->n + i],
						&variance, NULL, NULL);
		}
	for (size_t s = 0; s < count; s++) {
		right[s] = stats_dot(expected + s * m->n, m->y, m->n) + EARLIER_TRIALS * EARLIER_WEIGHT / (double)count;
		for (size_t t = 0; t < count; t++)
			normal[s * count + t] = stats_dot(expected + s * m->n, expected + t * m->n, m->n) +
					(s == t ? EARLIER_TRIALS : 0);
	}
	if (!stats_cholesky(normal, count))
		return 0;
	stats_forward(normal, count, right, right);
	stats_backward(normal, count, right, right);
	for (size_t s = 0; s < count; s++)
		m->weights[s] = o->options.earlier[s].has_model ? fmin(fmax(right[s], 0), 1) : 0;
	m->earlier = o->options.earlier;
	m->warm_start_count = count;
	m->gp.data.dims = dims;
	for (size_t i = 0; i < m->n; i++)
		m->y[i] -= guess(m, m->x + i * dims, NULL);
	return 0;
}

/* Adds pending trials as noise-free rows with their expected value. */
static int add_pending(struct tune_model *m, const struct tune_optimizer *o, struct arena *arena, struct sonde_err *err)
{
	size_t dims = o->space->count, n = m->n;
	struct stats_gp_data data;

	for (size_t t = 0; t < o->count; t++) {
		double variance;

		if (o->trials[t].result.state != TUNE_PENDING || tune_model_row(m, o, o->trials[t].point) < m->n)
			continue;
		if (n >= o->count)
			break;
		tune_point_coordinates(o->space, o->trials[t].point, m->x + n * dims);
		stats_gp_predict(&m->gp, m->x + n * dims, &m->y[n], &variance, NULL, NULL);
		m->noise[n] = 0.01;
		n++;
	}
	if (n == m->n)
		return 0;
	data = data_of(m, dims, n);
	return stats_gp_condition(&m->gp, &data, &m->gp.parameters, arena, err);
}

int tune_model_fit(struct tune_model *m, const struct tune_optimizer *o, const struct tune_model_options *how,
		struct arena *arena, struct sonde_err *err)
{
	double *scratch = arena_alloc(arena, (o->count + 1) * sizeof(*scratch));
	struct stats_gp_prior prior;
	struct stats_rng rng;
	int rc;

	if (!scratch || make_room(m, o, arena) < 0)
		return err_sys(err, ENOMEM, "cannot fit the model");
	gather(m, o, how->cost);
	if (m->n < 2)
		return err_set(err, ENODATA, "too few trials for a model");
	m->shared = NULL;
	if (thin(m, o->space->count, arena) < 0 || (how->has_pairs && level_rows(m, o, how->cost, arena) < 0))
		return err_sys(err, ENOMEM, "cannot fit the model");
	m->warp = (struct tune_warp){ .sd = 1, .most = INFINITY };
	if (m->shared)
		tune_warp_log(&m->warp, m->y, m->n, scratch);
	else if (how->is_warped)
		tune_warp_fit(&m->warp, m->y, m->n, scratch);
	for (size_t i = 0; i < m->n; i++)
		m->y[i] = tune_warp(&m->warp, m->y[i]);
	m->warm_start_count = 0;
	if (how->has_earlier && o->options.warm_start_count && weigh_earlier(m, o, arena) < 0)
		return err_sys(err, ENOMEM, "cannot fit the model");
	stats_rng_init(&rng, o->options.seed, how->stream);
	rc = fit(m, o, how->is_label, &prior, &rng, arena, err);
	if (rc < 0)
		return rc;
	m->best_mean = INFINITY;
	for (size_t i = 0; i < m->n; i++) {
		double mean, variance;

		tune_model_predict(m, &m->gp, m->x + i * m->gp.data.dims, &mean, &variance, NULL, NULL);
		if (mean < m->best_mean) {
			m->best_mean = mean;
			m->best = i;
		}
	}
	if (how->has_pending)
		rc = add_pending(m, o, arena, err);
	m->other_count = 0;
	return rc == 0 && how->has_others ? add_others(m, o, &prior, &rng, arena, err) : rc;
}

enum { SAMPLES = 64 };

#define Z95 1.95996398454005423552

/* The mean over samples with parameter k at `value`, warped; sd is roughly the standard error of that mean. */
static void average(const struct tune_optimizer *o, const struct tune_model *m, size_t k, double value, double *mean,
		double *sd)
{
	struct stats_sobol sobol;
	double units[TUNE_PARAMS_MAX], point[TUNE_PARAMS_MAX], x[TUNE_PARAMS_MAX], sum = 0, sum_variance = 0;

	stats_sobol_init(&sobol, o->space->count, 1);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		double one, variance;

		stats_sobol_point(&sobol, i, units);
		tune_point_from_units(o->space, units, point);
		for (size_t c = 0; c < o->space->params[k].condition_count; c++)
			point[o->space->params[k].conditions[c].param] = o->space->params[k].conditions[c].values[0];
		point[k] = value;
		tune_point_canonical(o->space, point);
		tune_point_coordinates(o->space, point, x);
		tune_model_predict(m, &m->gp, x, &one, &variance, NULL, NULL);
		sum += one;
		sum_variance += variance;
	}
	*mean = sum / SAMPLES;
	*sd = sqrt(sum_variance / SAMPLES);
}

static void draw_curve(const struct tune_optimizer *o, const struct tune_model *m, size_t k, struct tune_curve *c,
		double *effect)
{
	const struct tune_param *p = &o->space->params[k];
	double sign = o->options.is_maximized[0] ? -1 : 1;
	struct stats_moments moments;
	uint64_t levels = tune_param_levels(p);

	c->count = levels && levels <= TUNE_CURVE_POINTS ? (size_t)levels : TUNE_CURVE_POINTS;
	stats_moments_init(&moments);
	for (size_t i = 0; i < c->count; i++) {
		double mean, sd, a, b;

		c->at[i] = tune_param_from_unit(p, ((double)i + 0.5) / (double)c->count);
		average(o, m, k, c->at[i], &mean, &sd);
		stats_moments_add(&moments, mean);
		a = sign * tune_unwarp(&m->warp, mean - Z95 * sd);
		b = sign * tune_unwarp(&m->warp, mean + Z95 * sd);
		c->value[i] = sign * tune_unwarp(&m->warp, mean);
		c->lo[i] = fmin(a, b);
		c->hi[i] = fmax(a, b);
	}
	*effect = moments.n > 1 ? stats_variance(&moments) * (double)(moments.n - 1) / (double)moments.n : 0;
}

static double total_variance(const struct tune_optimizer *o, const struct tune_model *m)
{
	struct stats_sobol sobol;
	struct stats_moments moments;
	double units[TUNE_PARAMS_MAX], point[TUNE_PARAMS_MAX], x[TUNE_PARAMS_MAX];

	stats_sobol_init(&sobol, o->space->count, 2);
	stats_moments_init(&moments);
	for (uint32_t i = 0; i < 16 * SAMPLES; i++) {
		double mean, variance;

		stats_sobol_point(&sobol, i, units);
		tune_point_from_units(o->space, units, point);
		tune_point_coordinates(o->space, point, x);
		tune_model_predict(m, &m->gp, x, &mean, &variance, NULL, NULL);
		stats_moments_add(&moments, mean);
	}
	return stats_variance(&moments);
}

int tune_insight(const struct tune_optimizer *o, struct tune_insight *out, struct arena *arena, struct sonde_err *err)
{
	double *cost = arena_alloc(arena, (o->count + 1) * sizeof(*cost)), total;
	struct tune_model *m = arena_alloc(arena, sizeof(*m));
	struct tune_model_options how = { .cost = cost, .is_warped = true, .has_earlier = true, .has_pairs = true };
	int rc;

	memset(out, 0, sizeof(*out));
	if (!cost || !m)
		return err_sys(err, ENOMEM, "cannot inspect the model");
	for (size_t t = 0; t < o->count; t++)
		cost[t] = o->trials[t].result.state == TUNE_DONE || o->trials[t].result.state == TUNE_CUT
				? tune_cost(o, &o->trials[t], 0)
				: NAN;
	rc = tune_model_fit(m, o, &how, arena, err);
	if (rc == -ENODATA)
		return 0;
	if (rc < 0)
		return rc;
	total = total_variance(o, m);
	for (size_t k = 0; k < o->space->count; k++) {
		draw_curve(o, m, k, &out->curves[k], &out->importance[k]);
		out->importance[k] = total > 0 ? fmin(out->importance[k] / total, 1) : 0;
	}
	out->is_there = true;
	return 0;
}
