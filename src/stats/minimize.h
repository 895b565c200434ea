/*
 * minimize: the minimum of a smooth function within a box, by L-BFGS.
 *
 * Variables at a wall towards which the function falls are held there; the rest
 * takes a quasi-Newton step, bent to the box, that is halved until the function
 * has fallen enough. Finds a local minimum; never leaves the box; x is never worse
 * than it was.
 */
#ifndef SONDE_STATS_MINIMIZE_H
#define SONDE_STATS_MINIMIZE_H

#include <stddef.h>

enum { STATS_MINIMIZE_DIMS = 130 };

/* The value at x, and its gradient; infinite or NaN where there is none. */
typedef double stats_function(const double *x, double *gradient, void *context);

struct stats_minimize {
	stats_function *function;
	void *context;
	const double *lo, *hi; /* of the box */
	size_t dims;           /* at most STATS_MINIMIZE_DIMS */
	size_t evaluations;    /* at most so many */
	double tolerance;      /* stop when a step gains less than this */
	double first_step;     /* length of the first one; 0: 1 */
};

/* From x; returns the value there at the end. */
double stats_minimize(const struct stats_minimize *m, double *x);

#endif
