/*
 * curve: when will a falling, noisy loss be down to a target?
 *
 * Losses are taken as they came, one an iteration; means over stretches that grow
 * geometrically smooth them, for single losses are too noisy to fit. Four shapes
 * are fitted: SelfTF's bound of SGD turned round (Yang et al., SelfTF), Optimus's
 * 1/(a k + b) + c (Peng et al., EuroSys 2018), an exponential and a power, each of
 * the last three with a floor c that leaves the target within reach. How much each is believed is
 * back-tested: fitted to the first part of the losses, how wrong was it about when
 * the last level would be reached? The answer is their weighted median, and the
 * interval has both what they differ by and how wrong they were.
 *
 * Pure; scratch is on the stack.
 */
#ifndef SONDE_STATS_CURVE_H
#define SONDE_STATS_CURVE_H

#include "stats/interval.h"

#include <stdbool.h>
#include <stddef.h>

enum { STATS_CURVES = 4, STATS_CURVE_LOSSES_MIN = 20 };

/* A fitted shape: what a, b and c are is its own business. */
struct stats_curve_shape {
	double a, b, c;
	bool is_good; /* it could be fitted, and falls */
};

struct stats_curve_bins;

struct stats_curve {
	const char *name;
	const char *summary; /* one line */
	void (*fit)(struct stats_curve_shape *s, const struct stats_curve_bins *bins, double floor_max);
	double (*loss_at)(const struct stats_curve_shape *s, double k);
	double (*reach)(const struct stats_curve_shape *s,
			double loss); /* the k at which it is down to that; may be inf */
};

extern const struct stats_curve *const stats_curves[];        /* NULL-terminated, STATS_CURVES of them */
const struct stats_curve *stats_curve_find(const char *name); /* NULL: there is none */

struct stats_curve_fit {
	size_t n;
	struct stats_curve_shape shapes[STATS_CURVES];
	double weights[STATS_CURVES]; /* sum 1 over those believed, or all 0 */
	/* Iterations from the last loss to the target; NaN: no shape could be fitted, or there are too few losses. */
	struct stats_interval remaining;
};

/* only NULL: the ensemble; else that shape alone. Losses that are not finite are left out. target NaN: no remaining. */
void stats_curve_fit(struct stats_curve_fit *f, const double *losses, size_t n, double target,
		const struct stats_curve *only);
/* The expected loss at iteration k (from 1), and how fast its logarithm changes there; NaN without a shape. */
double stats_curve_loss(const struct stats_curve_fit *f, double k);
double stats_curve_slope(const struct stats_curve_fit *f, double k);

#endif
