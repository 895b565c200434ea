/*
 * curve: predicts when a falling, noisy loss reaches a target.
 *
 * The input is one loss per iteration; means over bins that grow geometrically smooth them, since single losses are
 * too noisy to fit. Four shapes are fitted: the inverse of SelfTF's bound of SGD (Yang et al., SelfTF), Optimus's
 * hyperbola 1/(a k + b) + c (Peng et al., EuroSys 2018), an exponential and a power, each of the last three with a
 * floor c that leaves the target reachable. The weight of each is back-tested: fitted to the first part of the
 * losses, how wrong is its prediction of when the last level is reached? The result is their weighted median, and the
 * interval includes both their disagreement and their back-test errors.
 *
 * Pure; scratch is on the stack.
 */
#ifndef SONDE_STATS_CURVE_H
#define SONDE_STATS_CURVE_H

#include "stats/interval.h"

#include <stdbool.h>
#include <stddef.h>

enum { STATS_CURVES = 4, STATS_CURVE_LOSSES_MIN = 20 };

/* A fitted shape; the meaning of a, b and c depends on the shape. */
struct stats_curve_shape {
	double a, b, c;
	bool is_good; /* the fit succeeded, and falls */
};

struct stats_curve_bins;

struct stats_curve {
	const char *name;
	const char *summary; /* one line */
	void (*fit)(struct stats_curve_shape *s, const struct stats_curve_bins *bins, double floor_max);
	double (*loss_at)(const struct stats_curve_shape *s, double k);
	double (*reach)(const struct stats_curve_shape *s,
			double loss); /* the k at which it reaches that loss; may be inf */
};

extern const struct stats_curve *const stats_curves[];        /* NULL-terminated, STATS_CURVES of them */
const struct stats_curve *stats_curve_find(const char *name); /* NULL if unknown */

struct stats_curve_fit {
	size_t n;
	struct stats_curve_shape shapes[STATS_CURVES];
	double weights[STATS_CURVES]; /* sum is 1 over the usable shapes, or all are 0 */
	/* Iterations from the last loss to the target; NaN if no shape could be fitted or there are too few losses. */
	struct stats_interval remaining;
};

/* only NULL: the ensemble; else only that shape. Losses that are not finite are skipped. target NaN: no remaining. */
void stats_curve_fit(struct stats_curve_fit *f, const double *losses, size_t n, double target,
		const struct stats_curve *only);
/* The expected loss at iteration k (from 1), and the slope of its logarithm there; NaN without a shape. */
double stats_curve_loss(const struct stats_curve_fit *f, double k);
double stats_curve_slope(const struct stats_curve_fit *f, double k);

#endif
