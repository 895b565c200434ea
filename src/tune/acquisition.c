#include "tune/acquisition.h"

#include "stats/minimize.h"
#include "stats/rng.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { ROUGH_BUDGET = 3600 }; /* of a rough evaluation: members times rows squared */

#define SQRT_2 1.41421356237309504880
#define SQRT_PI_2 1.25331413731550025121 /* of pi / 2 */
#define LOG_SQRT_2PI 0.91893853320467274178
#define FAR (-20) /* below this, use the series */

static double log_density(double z)
{
	return -0.5 * z * z - LOG_SQRT_2PI;
}

/* Mills' ratio cdf(z) / density(z), for z <= 0. */
static double mills(double z)
{
	double z2 = z * z;

	if (z > FAR)
		return SQRT_PI_2 * exp(0.5 * z2) * erfc(-z / SQRT_2);
	return (1 - 1 / z2 + 3 / (z2 * z2)) / -z;
}

double tune_log_cdf(double z, double *slope)
{
	double value;

	if (z > 0) {
		double cdf = 0.5 * erfc(-z / SQRT_2);

		if (slope)
			*slope = exp(log_density(z)) / cdf;
		return log(cdf);
	}
	value = mills(z);
	if (slope)
		*slope = 1 / value;
	return log_density(z) + log(value);
}

/* log of h(z) = density(z) + z cdf(z). */
static double log_h(double z)
{
	double z2 = z * z;

	if (z > -1)
		return log(exp(log_density(z)) + z * 0.5 * erfc(-z / SQRT_2));
	if (z > FAR)
		return log_density(z) + log1p(z * mills(z));
	return log_density(z) - log(z2) + log1p(-3 / z2 + 15 / (z2 * z2));
}

double tune_log_ei(double mean, double sd, double target, double *by_mean, double *by_sd)
{
	double z = (target - mean) / sd, value = log_h(z);

	if (by_mean) {
		/* h' is the distribution function, and h - z h' the density. */
		*by_mean = -exp(tune_log_cdf(z, NULL) - value) / sd;
		*by_sd = exp(log_density(z) - value) / sd;
	}
	return log(sd) + value;
}

static double predict(const struct tune_model *m, const struct stats_gp *gp, const double *x, double *sd,
		double *mean_gradient, double *sd_gradient)
{
	double mean, variance;

	tune_model_predict(m, gp, x, &mean, &variance, mean_gradient, sd_gradient);
	*sd = sqrt(variance);
	if (sd_gradient)
		for (size_t k = 0; k < gp->data.dims; k++)
			sd_gradient[k] /= 2 * *sd;
	return mean;
}

static double log_feasible(const struct tune_model *m, const double *x, double *gradient)
{
	double by_mean[STATS_GP_DIMS], by_sd[STATS_GP_DIMS], sd, slope;
	double mean = predict(m, &m->gp, x, &sd, gradient ? by_mean : NULL, gradient ? by_sd : NULL);
	double z = -mean / sd, value = tune_log_cdf(z, &slope);

	if (gradient)
		for (size_t k = 0; k < m->gp.data.dims; k++)
			gradient[k] -= slope * (by_mean[k] + z * by_sd[k]) / sd;
	return value;
}

/* log EI of one member. */
static double member_value(const struct tune_acquisition *a, size_t i, const double *x, double *gradient)
{
	double by_mean[STATS_GP_DIMS], by_sd[STATS_GP_DIMS], sd, value, d_mean = 0, d_sd = 0;
	double mean = predict(&a->model, a->members[i], x, &sd, gradient ? by_mean : NULL, gradient ? by_sd : NULL);

	value = tune_log_ei(mean, sd, a->targets[i], gradient ? &d_mean : NULL, &d_sd);
	if (gradient)
		for (size_t k = 0; k < a->space->count; k++)
			gradient[k] = d_mean * by_mean[k] + d_sd * by_sd[k];
	return value;
}

/* The logarithm of the mean of the members' expected improvements. */
static double some_members(const struct tune_acquisition *a, size_t count, const double *x, double *gradient)
{
	double values[TUNE_ENSEMBLE + 1], gradients[TUNE_ENSEMBLE + 1][STATS_GP_DIMS], most = -INFINITY, sum = 0;

	for (size_t i = 0; i < count; i++) {
		values[i] = member_value(a, i, x, gradient ? gradients[i] : NULL);
		most = fmax(most, values[i]);
	}
	for (size_t i = 0; i < count; i++)
		sum += exp(values[i] - most);
	if (gradient) {
		memset(gradient, 0, a->space->count * sizeof(*gradient));
		for (size_t i = 0; i < count; i++)
			for (size_t k = 0; k < a->space->count; k++)
				gradient[k] += exp(values[i] - most) / sum * gradients[i][k];
	}
	return most + log(sum / (double)count);
}

static double add_feasibility(const struct tune_acquisition *a, double value, const double *x, double *gradient)
{
	for (size_t i = 0; i < a->feasibility_count; i++)
		value += log_feasible(&a->feasibility[i], x, gradient);
	return value;
}

static double by_second(const struct tune_acquisition *a, double value, const double *x, double *gradient)
{
	double by_mean[STATS_GP_DIMS], ignored[STATS_GP_DIMS], mean, variance;

	if (!a->has_seconds)
		return value;
	tune_model_predict(&a->seconds, &a->seconds.gp, x, &mean, &variance, gradient ? by_mean : NULL,
			gradient ? ignored : NULL);
	for (size_t k = 0; gradient && k < a->space->count; k++)
		gradient[k] -= by_mean[k];
	return value - mean;
}

double tune_acquisition(const struct tune_acquisition *a, const double *x, double *gradient)
{
	double value = add_feasibility(a, some_members(a, a->member_count, x, gradient), x, gradient);

	return by_second(a, value, x, gradient);
}

/* At an encoded point, by the first few members: a cheap screening of many points. */
static double rough_value(const struct tune_acquisition *a, const double *x)
{
	size_t count = ROUGH_BUDGET / (a->model.n * a->model.n) + 1;

	count = count < a->member_count ? count : a->member_count;
	return by_second(a, add_feasibility(a, some_members(a, count, x, NULL), x, NULL), x, NULL);
}

enum {
	SPREAD = 400,     /* evenly spread candidates */
	PARENTS = 5,      /* best trials, */
	CHILDREN = 60,    /* and changed copies of each */
	CLIMBERS = 6,     /* candidates that are optimized locally */
	FINALISTS = 3,    /* the best of them continue after the first round */
	ROUNDS = 4,       /* maximum number of rounds of numbers, then choices */
	EVALUATIONS = 30, /* per local optimization */
	WHOLE = 2000,     /* discrete spaces up to this size are enumerated */
};

struct candidate {
	double score;
	double point[TUNE_PARAMS_MAX];
};

struct searcher {
	const struct tune_optimizer *o;
	const struct tune_acquisition *a;
	struct stats_rng rng;
	struct candidate top[CLIMBERS]; /* best first */
	size_t top_count;
	/* of the local optimization: the free coordinates and the point */
	size_t moving[TUNE_PARAMS_MAX], moving_count;
	double x[TUNE_PARAMS_MAX];
};

static double score(const struct searcher *s, const double *point)
{
	double x[TUNE_PARAMS_MAX];

	tune_point_coordinates(s->o->space, point, x);
	return tune_acquisition(s->a, x, NULL);
}

static bool is_fresh(const struct searcher *s, const double *point)
{
	return tune_point_is_allowed(s->o->space, point) && !tune_is_tried(s->o, point);
}

/* Keeps it if it is among the best and not a duplicate. */
static void offer(struct searcher *s, const double *point, double value)
{
	size_t count = s->o->space->count, i;

	if (!(s->top_count < CLIMBERS || value > s->top[CLIMBERS - 1].score))
		return;
	for (i = 0; i < s->top_count; i++)
		if (tune_point_equal(s->o->space, s->top[i].point, point))
			return;
	i = s->top_count < CLIMBERS ? s->top_count++ : CLIMBERS - 1;
	for (; i > 0 && s->top[i - 1].score < value; i--)
		s->top[i] = s->top[i - 1];
	s->top[i].score = value;
	memcpy(s->top[i].point, point, count * sizeof(*point));
}

static void try_point(struct searcher *s, const double *point)
{
	double x[TUNE_PARAMS_MAX];

	if (!is_fresh(s, point))
		return;
	tune_point_coordinates(s->o->space, point, x);
	offer(s, point, rough_value(s->a, x));
}

/* Another value: a step on the scale of numbers, any other choice for categories. */
static double mutate(struct searcher *s, const struct tune_param *p, double value, double step)
{
	uint64_t levels = tune_param_levels(p);
	double changed;

	if (tune_param_is_category(p) || isnan(value))
		return tune_param_from_unit(p, stats_rng_open(&s->rng));
	changed = tune_param_to_unit(p, value) + step * stats_rng_normal(&s->rng);
	changed = tune_param_from_unit(p, fmin(fmax(changed, 0), 1));
	if (changed == value && levels > 1)
		changed = tune_param_snap(p, value + (stats_rng_next(&s->rng) & 1 ? 1 : -1));
	return changed;
}

static void try_mutants(struct searcher *s, const double *parent)
{
	static const double steps[] = { 0.02, 0.1, 0.3 };
	size_t count = s->o->space->count;
	double share = fmax(0.25, 1.5 / (double)count), point[TUNE_PARAMS_MAX];

	for (int i = 0; i < CHILDREN; i++) {
		double step = steps[i % 3];

		memcpy(point, parent, count * sizeof(*point));
		for (size_t k = 0; k < count; k++)
			if (stats_rng_uniform(&s->rng) < share)
				point[k] = mutate(s, &s->o->space->params[k], point[k], step);
		tune_point_canonical(s->o->space, point);
		try_point(s, point);
	}
}

static double negative_acquisition(const double *moved, double *gradient, void *context)
{
	struct searcher *s = context;
	double full[STATS_GP_DIMS], value;

	for (size_t k = 0; k < s->moving_count; k++)
		s->x[s->moving[k]] = moved[k];
	value = tune_acquisition(s->a, s->x, full);
	for (size_t k = 0; k < s->moving_count; k++)
		gradient[k] = -full[s->moving[k]];
	return -value;
}

/* Numbers with enough values for a meaningful gradient. */
static bool is_smooth(const struct tune_param *p, double value)
{
	return !isnan(value) && !tune_param_is_category(p) &&
			(p->type == TUNE_FLOAT || tune_param_levels(p) > 8 || tune_param_levels(p) == 0) &&
			p->low < p->high;
}

/* Bisects back towards `from` until the point is allowed. */
static bool retreat(const struct searcher *s, const double *from, double *to)
{
	for (int i = 0; i < 12; i++) {
		if (is_fresh(s, to))
			return true;
		for (size_t k = 0; k < s->moving_count; k++) {
			size_t j = s->moving[k];
			const struct tune_param *p = &s->o->space->params[j];

			to[j] = tune_param_from_unit(p,
					0.5 * (tune_param_to_unit(p, from[j]) + tune_param_to_unit(p, to[j])));
		}
	}
	return false;
}

/* Optimizes all numbers together along the gradient. */
static bool climb_numbers(struct searcher *s, struct candidate *c)
{
	const struct tune_space *space = s->o->space;
	double moved[TUNE_PARAMS_MAX], lo[TUNE_PARAMS_MAX], hi[TUNE_PARAMS_MAX], point[TUNE_PARAMS_MAX], value;
	struct stats_minimize m = { .function = negative_acquisition,
		.context = s,
		.lo = lo,
		.hi = hi,
		.evaluations = EVALUATIONS,
		.tolerance = 1e-4,
		.first_step = 0.1 };

	s->moving_count = 0;
	tune_point_coordinates(space, c->point, s->x);
	for (size_t k = 0; k < space->count; k++)
		if (is_smooth(&space->params[k], c->point[k])) {
			lo[s->moving_count] = 0;
			hi[s->moving_count] = 1;
			moved[s->moving_count] = s->x[k];
			s->moving[s->moving_count++] = k;
		}
	m.dims = s->moving_count;
	if (!m.dims)
		return false;
	stats_minimize(&m, moved);
	memcpy(point, c->point, space->count * sizeof(*point));
	for (size_t k = 0; k < s->moving_count; k++)
		point[s->moving[k]] = tune_param_from_unit(&space->params[s->moving[k]], moved[k]);
	if (!retreat(s, c->point, point))
		return false;
	value = score(s, point);
	if (!(value > c->score))
		return false;
	c->score = value;
	memcpy(c->point, point, space->count * sizeof(*point));
	return true;
}

/* Sets parameter k to `value` if that is better. */
static bool try_value(struct searcher *s, struct candidate *c, size_t k, double value)
{
	size_t count = s->o->space->count;
	double point[TUNE_PARAMS_MAX], got;

	memcpy(point, c->point, count * sizeof(*point));
	point[k] = value;
	tune_point_canonical(s->o->space, point);
	if (tune_point_equal(s->o->space, point, c->point) || !is_fresh(s, point))
		return false;
	got = score(s, point);
	if (!(got > c->score))
		return false;
	c->score = got;
	memcpy(c->point, point, count * sizeof(*point));
	return true;
}

static bool climb_choices(struct searcher *s, struct candidate *c)
{
	static const double steps[] = { -1, 1, -2, 2 };
	bool is_better = false;

	for (size_t k = 0; k < s->o->space->count; k++) {
		const struct tune_param *p = &s->o->space->params[k];
		uint64_t levels = tune_param_levels(p);

		if (p->type == TUNE_FLOAT || isnan(c->point[k]))
			continue;
		if (levels && levels <= 16) {
			double first = p->type < TUNE_ORDINAL ? p->low : 0;

			for (uint64_t i = 0; i < levels; i++)
				is_better |= try_value(s, c, k, first + (double)i);
		} else {
			for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
				is_better |= try_value(s, c, k, c->point[k] + steps[i]);
		}
	}
	return is_better;
}

/* One round; false: converged. */
static bool climb(struct searcher *s, struct candidate *c, int round)
{
	bool has_climbed = climb_numbers(s, c);

	return climb_choices(s, c) || (round == 0 && has_climbed);
}

/* Optimizes all candidates once, then the best few to convergence. Returns the index of the best. */
static size_t climb_all(struct searcher *s)
{
	bool is_done[CLIMBERS], is_chosen[CLIMBERS] = { false };
	size_t best = 0;

	for (size_t i = 0; i < s->top_count; i++) {
		s->top[i].score = score(s, s->top[i].point);
		is_done[i] = !climb(s, &s->top[i], 0);
	}
	for (size_t n = 0; n < FINALISTS && n < s->top_count; n++) {
		size_t at = s->top_count;

		for (size_t i = 0; i < s->top_count; i++)
			if (!is_chosen[i] && (at == s->top_count || s->top[i].score > s->top[at].score))
				at = i;
		is_chosen[at] = true;
		for (int round = 1; round < ROUNDS && !is_done[at]; round++)
			is_done[at] = !climb(s, &s->top[at], round);
	}
	for (size_t i = 1; i < s->top_count; i++)
		if (s->top[i].score > s->top[best].score)
			best = i;
	return best;
}

int tune_search(const struct tune_optimizer *o, const struct tune_acquisition *a, uint64_t id, double *point,
		struct arena *scratch, struct sonde_err *err)
{
	struct searcher *s = arena_alloc(scratch, sizeof(*s));
	uint64_t size = tune_space_size(o->space, WHOLE);

	if (!s)
		return err_sys(err, ENOMEM, "cannot search for the next trial");
	s->o = o;
	s->a = a;
	stats_rng_init(&s->rng, o->options.seed, id);
	if (size) {
		double one[TUNE_PARAMS_MAX];

		for (uint64_t i = 0; i < size; i++) {
			tune_space_nth(s->o->space, i, one);
			try_point(s, one);
		}
	} else {
		const struct tune_model *m;
		size_t rows[PARENTS + 1], count = 0;
		struct stats_sobol sobol;
		double units[TUNE_PARAMS_MAX], one[TUNE_PARAMS_MAX];

		/* Points spread evenly. */
		stats_sobol_init(&sobol, s->o->space->count, s->o->options.seed ^ id << 20);
		for (uint32_t i = 0; i < SPREAD; i++) {
			stats_sobol_point(&sobol, i, units);
			tune_point_from_units(s->o->space, units, one);
			try_point(s, one);
		}
		/* Mutated copies of the rows with the lowest costs. */
		m = &s->a->model;
		for (size_t i = 0; i < m->n; i++) {
			size_t at = count;

			for (; at > 0 && m->y[rows[at - 1]] > m->y[i]; at--)
				rows[at] = rows[at - 1];
			rows[at] = i;
			count += count < PARENTS;
		}
		for (size_t i = 0; i < count; i++)
			try_mutants(s, m->points[rows[i]]);
	}
	if (!s->top_count)
		return tune_random_point(o, &s->rng, point, err);
	memcpy(point, s->top[climb_all(s)].point, o->space->count * sizeof(*point));
	return 0;
}
