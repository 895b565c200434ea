/*
 * The shapes. Three are straight lines after a floor c is subtracted and both axes are transformed: the floor is
 * searched, the line is a regression. SelfTF's has a closed form.
 */
#include "stats/curve-shapes.h"
#include "stats/summary.h"

#include <math.h>
#include <string.h>

enum { FLOORS = 24 };

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
	double sorted[STATS_CURVE_BINS], median, usual, sxx = 0, sxy = 0;

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

const struct stats_curve stats_curve_selftf = { "selftf", "SelfTF's: the bound of SGD, turned round", fit_selftf,
	loss_selftf, reach_selftf };
const struct stats_curve stats_curve_optimus = { "optimus", "Optimus's: 1 / (a k + b) + c", fit_optimus, loss_optimus,
	reach_optimus };
const struct stats_curve stats_curve_exponential = { "exponential", "a exp(-b k) + c", fit_exponential,
	loss_exponential, reach_exponential };
const struct stats_curve stats_curve_power = { "power", "a k^-b + c", fit_power, loss_power, reach_power };
