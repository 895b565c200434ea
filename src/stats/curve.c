/*
 * Three shapes are straight lines after a floor c is subtracted and both axes are transformed: the floor is searched,
 * the line is a regression. SelfTF's has a closed form.
 */
#include "stats/curve.h"

#include "stats/summary.h"

#include <math.h>
#include <string.h>

enum { BINS_MAX = 48, FLOORS = 24 };

/* Means of the losses over bins that grow geometrically. */
struct stats_curve_bins {
	double k[BINS_MAX]; /* the middle of each, from 1 */
	double loss[BINS_MAX];
	size_t count;
};

/* The axis transforms of a shape: y(l - c) = a + b x(k). */
struct bend {
	double (*x)(double k);
	double (*y)(double above);
	double (*above)(double y); /* inverse of y; NaN: no loss has that y */
	double (*k)(double x);     /* inverse of x */
	bool is_rising;            /* y grows as the loss falls */
};

static double same(double v)
{
	return v;
}

static double inverse(double v)
{
	return v > 0 ? 1 / v : NAN;
}

static const struct bend optimus = { same, inverse, inverse, same, true };
static const struct bend exponential = { same, log, exp, same, false };
static const struct bend power = { log, log, exp, exp, false };

static double bent_loss(const struct bend *bend, const struct stats_curve_shape *s, double k)
{
	return bend->above(s->a + s->b * bend->x(k)) + s->c;
}

static double bent_reach(const struct bend *bend, const struct stats_curve_shape *s, double loss)
{
	return loss > s->c ? bend->k((bend->y(loss - s->c) - s->a) / s->b) : INFINITY;
}

/* Fits the line for one floor; a relative error of the loss has the same weight at any height. */
static bool fit_line(const struct bend *bend, const struct stats_curve_bins *bins, struct stats_curve_shape *s)
{
	double sw = 0, sx = 0, sy = 0, sxx = 0, sxy = 0, det;

	for (size_t i = 0; i < bins->count; i++) {
		double above = bins->loss[i] - s->c, x = bend->x(bins->k[i]), y = bend->y(above);
		double relative = above / bins->loss[i],
		       w = bend->is_rising ? above * above * relative * relative : relative * relative;

		sw += w;
		sx += w * x;
		sy += w * y;
		sxx += w * x * x;
		sxy += w * x * y;
	}
	det = sw * sxx - sx * sx;
	s->b = (sw * sxy - sx * sy) / det;
	s->a = (sy - s->b * sx) / sw;
	return isfinite(s->a) && isfinite(s->b) && (bend->is_rising ? s->b > 0 : s->b < 0);
}

static double error_of(const struct bend *bend, const struct stats_curve_bins *bins, const struct stats_curve_shape *s)
{
	double sum = 0;

	for (size_t i = 0; i < bins->count; i++) {
		double at = log(bent_loss(bend, s, bins->k[i]) / bins->loss[i]);

		sum += at * at;
	}
	return isfinite(sum) ? sum : INFINITY;
}

static void fit_bent(const struct bend *bend, struct stats_curve_shape *s, const struct stats_curve_bins *bins,
		double floor_max)
{
	double least = INFINITY, lowest = INFINITY;

	for (size_t i = 0; i < bins->count; i++)
		lowest = fmin(lowest, bins->loss[i]);
	*s = (struct stats_curve_shape){ .is_good = false };
	for (size_t i = 0; i < FLOORS; i++) {
		/* Denser towards the top, where a floor matters. */
		double part = 1 - pow(1 - (double)i / FLOORS, 2), error;
		struct stats_curve_shape try = { .c = part * fmin(floor_max, 0.999 * lowest), .is_good = true };

		if (!fit_line(bend, bins, &try))
			continue;
		error = error_of(bend, bins, &try);
		if (error < least) {
			least = error;
			*s = try;
		}
	}
}

#define BENT(name) \
	static void fit_##name(struct stats_curve_shape *s, const struct stats_curve_bins *bins, double floor_max) \
	{ \
		fit_bent(&name, s, bins, floor_max); \
	} \
	static double loss_##name(const struct stats_curve_shape *s, double k) \
	{ \
		return bent_loss(&name, s, k); \
	} \
	static double reach_##name(const struct stats_curve_shape *s, double loss) \
	{ \
		return bent_reach(&name, s, loss); \
	}

BENT(optimus)
BENT(exponential)
BENT(power)

/*
 * k(l) = (H / l) ln(d / l): c is d, the highest loss, and a is H. Losses further from the median than three times the
 * typical distance are left out, as in SelfTF.
 */
static double selftf_x(const struct stats_curve_shape *s, double loss)
{
	return log(s->c / loss) / loss;
}

static void fit_selftf(struct stats_curve_shape *s, const struct stats_curve_bins *bins, double floor_max)
{
	double sorted[BINS_MAX], median, usual, sxx = 0, sxy = 0;

	memcpy(sorted, bins->loss, bins->count * sizeof(*sorted));
	median = stats_median(sorted, bins->count);
	for (size_t i = 0; i < bins->count; i++)
		sorted[i] = fabs(bins->loss[i] - median);
	usual = stats_median(sorted, bins->count);
	*s = (struct stats_curve_shape){ .c = -INFINITY };
	for (size_t i = 0; i < bins->count; i++)
		if (fabs(bins->loss[i] - median) < 3 * usual)
			s->c = fmax(s->c, bins->loss[i]);
	for (size_t i = 0; i < bins->count; i++) {
		double x = selftf_x(s, bins->loss[i]);

		if (fabs(bins->loss[i] - median) >= 3 * usual)
			continue;
		sxx += x * x;
		sxy += x * (bins->k[i] - bins->k[0]);
	}
	s->a = sxy / sxx;
	s->b = bins->k[0];
	s->is_good = isfinite(s->a) && s->a > 0;
}

static double reach_selftf(const struct stats_curve_shape *s, double loss)
{
	return loss > 0 ? s->b + s->a * selftf_x(s, loss) : INFINITY;
}

/* reach decreases as the loss grows: bisection. */
static double loss_selftf(const struct stats_curve_shape *s, double k)
{
	double lo = s->c * 1e-6, hi = s->c;

	for (int i = 0; i < 60; i++) {
		double middle = sqrt(lo * hi);

		if (reach_selftf(s, middle) > k)
			lo = middle;
		else
			hi = middle;
	}
	return hi;
}

static const struct stats_curve curve_selftf = { "selftf", "SelfTF's: the bound of SGD, turned round", fit_selftf,
	loss_selftf, reach_selftf };
static const struct stats_curve curve_optimus = { "optimus", "Optimus's: 1 / (a k + b) + c", fit_optimus, loss_optimus,
	reach_optimus };
static const struct stats_curve curve_exponential = { "exponential", "a exp(-b k) + c", fit_exponential,
	loss_exponential, reach_exponential };
static const struct stats_curve curve_power = { "power", "a k^-b + c", fit_power, loss_power, reach_power };

#define Z95 1.95996398454005423552

enum { CUTS = 3 };
static const double cuts[CUTS] = { 0.6, 0.75, 0.9 }; /* parts of the losses that a back-test fits */

/* A shape that was wrong by this factor or more gets no weight. */
static const double hopeless = 3;

const struct stats_curve *const stats_curves[] = { &curve_selftf, &curve_optimus, &curve_exponential, &curve_power,
	NULL };

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
	double ratio = pow((double)n + 1, 1.0 / BINS_MAX), edge = 1;
	size_t from = 0;

	bins->count = 0;
	while (from < n && bins->count < BINS_MAX) {
		size_t to, used = 0;
		double sum = 0;

		edge *= ratio;
		to = (size_t)fmin(fmax(edge, (double)from + 1), (double)n);
		if (bins->count == BINS_MAX - 1)
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
