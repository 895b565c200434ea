/*
 * minimize: the minimum of a smooth function within a box, by L-BFGS.
 *
 * Variables at a bound towards which the function falls are fixed; the others take a quasi-Newton step, projected to
 * the box, which is halved until the function has decreased enough. Finds a local minimum; never leaves the box; the
 * result is never worse than the start.
 */
#ifndef SONDE_STATS_MINIMIZE_H
#define SONDE_STATS_MINIMIZE_H

#include <stddef.h>

enum { STATS_MINIMIZE_DIMS = 130 };

/* Returns the value at x, and its gradient; infinite or NaN if undefined. */
typedef double stats_function(const double *x, double *gradient, void *context);

struct stats_minimize {
	stats_function *function;
	void *context;
	const double *lo, *hi; /* of the box */
	size_t dims;           /* at most STATS_MINIMIZE_DIMS */
	size_t evaluations;    /* maximum number */
	double tolerance;      /* stop if a step improves by less than this */
	double first_step;     /* length of the first step; 0: 1 */
};

/* Starts at x and updates it; returns the final value. */
double stats_minimize(const struct stats_minimize *m, double *x);

#endif
