/* curve-shapes: shared by curve.c and the shapes. */
#ifndef SONDE_STATS_CURVE_SHAPES_H
#define SONDE_STATS_CURVE_SHAPES_H

#include "stats/curve.h"

enum { STATS_CURVE_BINS = 48 };

struct stats_curve_bins {
	double k[STATS_CURVE_BINS]; /* the middle of each, from 1 */
	double loss[STATS_CURVE_BINS];
	size_t count;
};

extern const struct stats_curve stats_curve_selftf, stats_curve_optimus, stats_curve_exponential, stats_curve_power;

#endif
