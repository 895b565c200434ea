/*
 * Tree-structured Parzen estimator (Bergstra et al., "Algorithms for hyper-parameter optimization", NeurIPS 2011):
 * for each parameter independently, values where good trials are dense and bad ones are not. Cheap, and a baseline.
 */
#include "tune/optimizer.h"

#include "stats/dist.h"

#include <errno.h>
#include <math.h>

enum { STARTUP = 10, CANDIDATES = 24, GOOD_MAX = 25 };

struct split {
	const struct tune_optimizer *o;
	const struct tune_trial **trials; /* the good first */
	size_t good, count;
};

static int by_cost(const struct tune_optimizer *o, const struct tune_trial *a, const struct tune_trial *b)
{
	bool is_a = a->result.state == TUNE_DONE, is_b = b->result.state == TUNE_DONE;

	if (is_a != is_b)
		return is_a ? -1 : 1;
	if (!is_a)
		return 0;
	return tune_cost(o, a, 0) < tune_cost(o, b, 0) ? -1 : tune_cost(o, a, 0) > tune_cost(o, b, 0);
}

static int make_split(struct split *s, const struct tune_optimizer *o, struct arena *scratch)
{
	s->o = o;
	s->count = 0;
	s->trials = arena_alloc(scratch, (o->count + 1) * sizeof(const struct tune_trial *));
	if (!s->trials)
		return -ENOMEM;
	for (size_t t = 0; t < o->count; t++) {
		const struct tune_trial *trial = &o->trials[t];
		size_t at = s->count++;

		for (; at > 0 && by_cost(o, trial, s->trials[at - 1]) < 0; at--)
			s->trials[at] = s->trials[at - 1];
		s->trials[at] = trial;
	}
	s->good = (size_t)ceil(0.1 * (double)s->count);
	s->good = s->good < 1 ? 1 : s->good > GOOD_MAX ? GOOD_MAX : s->good;
	return 0;
}

/* Density of a value of parameter k among trials from..to: a Gaussian around each, plus the prior. */
static double log_density(const struct split *s, size_t k, double value, size_t from, size_t to)
{
	const struct tune_param *p = &s->o->space->params[k];
	double n = (double)(to - from) + 1, sum = 0, levels = (double)tune_param_levels(p);
	double width = fmax(1 / sqrt(12.0) * pow(n, -0.4), 0.02), unit = tune_param_to_unit(p, value);

	if (tune_param_is_category(p)) {
		for (size_t i = from; i < to; i++)
			sum += s->trials[i]->point[k] == value;
		return log((sum + 1) / (n - 1 + levels));
	}
	for (size_t i = from; i < to; i++) {
		double centre = s->trials[i]->point[k];

		if (!isnan(centre)) {
			centre = tune_param_to_unit(p, centre);
			sum += stats_normal_density((unit - centre) / width) / width /
					(stats_normal_cdf((1 - centre) / width) - stats_normal_cdf(-centre / width));
		}
	}
	return log((sum + 1) / n);
}

static double draw(const struct split *s, size_t k, struct stats_rng *rng)
{
	const struct tune_param *p = &s->o->space->params[k];
	size_t i = stats_rng_below(rng, s->good + 1);
	double width = fmax(1 / sqrt(12.0) * pow((double)s->good + 1, -0.4), 0.02), unit;

	if (i == s->good || isnan(s->trials[i]->point[k]))
		return tune_param_from_unit(p, stats_rng_open(rng));
	if (tune_param_is_category(p))
		return s->trials[i]->point[k];
	do
		unit = tune_param_to_unit(p, s->trials[i]->point[k]) + width * stats_rng_normal(rng);
	while (unit < 0 || unit > 1);
	return tune_param_from_unit(p, unit);
}

/* The best of a few draws, independently for each parameter. */
static void compose(const struct split *s, struct stats_rng *rng, double *point)
{
	for (size_t k = 0; k < s->o->space->count; k++) {
		double best = -INFINITY;

		for (int i = 0; i < CANDIDATES; i++) {
			double value = draw(s, k, rng);
			double gain = log_density(s, k, value, 0, s->good) -
					log_density(s, k, value, s->good, s->count);

			if (gain > best) {
				best = gain;
				point[k] = value;
			}
		}
	}
	tune_point_canonical(s->o->space, point);
}

static int propose(struct tune_optimizer *o, uint64_t id, double *point, struct arena *scratch, struct sonde_err *err)
{
	struct stats_rng rng;
	struct split s;

	stats_rng_init(&rng, o->options.seed, id);
	if (o->count < STARTUP)
		return tune_random_point(o, &rng, point, err);
	if (make_split(&s, o, scratch) < 0)
		return err_sys(err, ENOMEM, "cannot choose the next trial");
	for (int i = 0; i < 20; i++) {
		compose(&s, &rng, point);
		if (tune_point_is_allowed(o->space, point) && !tune_is_tried(o, point))
			return 0;
	}
	return tune_random_point(o, &rng, point, err);
}

const struct tune_method tune_method_tpe = { "tpe", "where good trials are dense and bad ones are not", propose };
