#include "stats/curve.h"

#include "stats/curve-shapes.h"
#include "stats/sorting.h"

#include <math.h>
#include <string.h>

#define Z95 1.95996398454005423552

enum { CUTS = 3 };
static const double cuts[CUTS] = { 0.6, 0.75, 0.9 }; /* parts of the losses that a back-test fits */

/* A shape that was wrong by this factor or more gets no weight. */
static const double hopeless = 3;

const struct stats_curve *const stats_curves[] = { &stats_curve_selftf, &stats_curve_optimus, &stats_curve_exponential,
	&stats_curve_power, NULL };

const struct stats_curve *stats_curve_find(const char *name)
{
	for (size_t i = 0; stats_curves[i]; i++)
		if (strcmp(stats_curves[i]->name, name) == 0)
			return stats_curves[i];
	return NULL;
}

/* Bins that grow geometrically. Only losses above 0 have a logarithm, and a shape. */
static void bin(struct stats_curve_bins *bins, const double *losses, size_t n)
{
	double ratio = pow((double)n + 1, 1.0 / STATS_CURVE_BINS), edge = 1;
	size_t from = 0;

	bins->count = 0;
	while (from < n && bins->count < STATS_CURVE_BINS) {
		size_t to, used = 0;
		double sum = 0;

		edge *= ratio;
		to = (size_t)fmin(fmax(edge, (double)from + 1), (double)n);
		if (bins->count == STATS_CURVE_BINS - 1)
			to = n;
		for (size_t i = from; i < to; i++)
			if (isfinite(losses[i]) && losses[i] > 0) {
				sum += losses[i];
				used++;
			}
		if (used) {
			bins->k[bins->count] = (double)(from + to + 1) / 2;
			bins->loss[bins->count++] = sum / (double)used;
		}
		from = to;
	}
}

static double mean_of(const double *x, size_t n)
{
	double sum = 0;
	size_t used = 0;

	for (size_t i = 0; i < n; i++)
		if (isfinite(x[i])) {
			sum += x[i];
			used++;
		}
	return used ? sum / (double)used : NAN;
}

/*
 * Fits the first part and returns the error (as log factor, at most `hopeless`) of the predicted number of iterations
 * to the level that was reached at the end.
 */
static double back_test(const struct stats_curve *curve, const double *losses, size_t n, double cut)
{
	size_t seen = (size_t)(cut * (double)n), tail = n / 20 + 1;
	double level = mean_of(losses + n - tail, tail), really = (double)(n - seen) - (double)tail / 2, said;
	struct stats_curve_shape shape;
	struct stats_curve_bins bins;

	bin(&bins, losses, seen);
	if (bins.count < 4 || !(level > 0))
		return hopeless;
	curve->fit(&shape, &bins, 0.95 * level);
	said = shape.is_good ? curve->reach(&shape, level) - (double)seen : NAN;
	if (!isfinite(said))
		return hopeless;
	return fmin(hopeless, fabs(log(fmax(said, 1) / fmax(really, 1))));
}

struct member {
	double log_remaining, error, weight;
};

/* Combines the remaining iterations by weight: median, and an interval that includes disagreement and back-test
 * errors. */
static void combine(struct stats_curve_fit *f, struct member *members, size_t count)
{
	double keys[STATS_CURVES], weights[STATS_CURVES], below = 0, centre = NAN, between = 0, within = 0, sd;

	for (size_t i = 0; i < count; i++) {
		keys[i] = members[i].log_remaining;
		weights[i] = members[i].weight;
	}
	stats_sort_with(keys, weights, count);
	for (size_t i = 0; i < count && isnan(centre); i++) {
		below += weights[i];
		if (below >= 0.5)
			centre = keys[i];
	}
	for (size_t i = 0; i < count; i++) {
		double off = members[i].log_remaining - centre;

		between += members[i].weight * off * off;
		within += members[i].weight * members[i].error;
	}
	sd = sqrt(between + within * within);
	f->remaining = (struct stats_interval){ .estimate = exp(centre),
		.lo = exp(centre - Z95 * sd),
		.hi = exp(centre + Z95 * sd),
		.level = 0.95,
		.df = NAN,
		.se = exp(centre) * sd,
		.n = f->n,
		.method = "back-tested curves" };
}

/* Computes the prediction of each shape for the target, and its weight. */
static size_t question(struct stats_curve_fit *f, const double *losses, double target, const struct stats_curve *only,
		struct member *members)
{
	double sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < STATS_CURVES; i++) {
		const struct stats_curve *curve = stats_curves[i];
		struct member m = { 0 };

		if (!f->shapes[i].is_good || (only && only != curve))
			continue;
		for (size_t c = 0; c < CUTS; c++)
			m.error += back_test(curve, losses, f->n, cuts[c]) / CUTS;
		m.weight = f->weights[i] = 1 / (m.error * m.error + 0.02);
		sum += m.weight;
		m.log_remaining = isnan(target) ? 0 : log(fmax(curve->reach(&f->shapes[i], target) - (double)f->n, 1));
		if (isinf(m.log_remaining))
			m.log_remaining = log(1e12);
		members[count++] = m;
	}
	for (size_t i = 0; i < STATS_CURVES; i++)
		f->weights[i] /= sum;
	for (size_t i = 0; i < count; i++)
		members[i].weight /= sum;
	return count;
}

void stats_curve_fit(struct stats_curve_fit *f, const double *losses, size_t n, double target,
		const struct stats_curve *only)
{
	struct member members[STATS_CURVES];
	struct stats_curve_bins bins;
	double floor_max = isnan(target) ? INFINITY : 0.95 * target;
	size_t count;

	*f = (struct stats_curve_fit){ .n = n, .remaining = stats_interval_open(NAN, n, 0.95, "back-tested curves") };
	if (n < STATS_CURVE_LOSSES_MIN)
		return;
	bin(&bins, losses, n);
	if (bins.count < 4)
		return;
	for (size_t i = 0; i < STATS_CURVES; i++)
		stats_curves[i]->fit(&f->shapes[i], &bins, floor_max);
	count = question(f, losses, target, only, members);
	if (!count)
		memset(f->weights, 0, sizeof(f->weights));
	else if (!isnan(target))
		combine(f, members, count);
}

double stats_curve_loss(const struct stats_curve_fit *f, double k)
{
	double sum = 0, weight = 0;

	for (size_t i = 0; i < STATS_CURVES; i++) {
		double loss = f->weights[i] > 0 ? stats_curves[i]->loss_at(&f->shapes[i], k) : NAN;

		if (isfinite(loss)) {
			sum += f->weights[i] * loss;
			weight += f->weights[i];
		}
	}
	return weight > 0 ? sum / weight : NAN;
}

double stats_curve_slope(const struct stats_curve_fit *f, double k)
{
	double step = fmax(1, 0.02 * k);

	return log(stats_curve_loss(f, k + step) / stats_curve_loss(f, k - step)) / (2 * step);
}
