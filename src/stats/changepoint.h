/*
 * changepoint: where the level of a series changed; for histories of results.
 *
 * The series is cut into segments so that the distances from the segments'
 * medians, plus a penalty for each cut, are least: outliers stay outliers, and a
 * cut means that a level lasted. The best of all cuttings is found, not a greedy
 * one. Distances are in units of the noise, estimated from neighbours, so neither
 * scale nor changes matter. Values that depend on their predecessors (a drifting
 * machine) look like many small changes. Time grows with the square of the longest
 * segment: for thousands of values, not millions.
 */
#ifndef SONDE_STATS_CHANGEPOINT_H
#define SONDE_STATS_CHANGEPOINT_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>

struct stats_segment {
	size_t first, count;
	double median;
};

struct stats_changes {
	size_t shortest; /* values a segment has at least; 0: 3 */
	double penalty;  /* of a cut, in units of the noise; 0: so that 1 series in 100 is cut in vain (skewed: 3) */
};

/* Segments in order, covering the series; one when nothing changed. -EINVAL for values not finite, -ENOMEM. */
int stats_changepoints(const double *x, size_t n, const struct stats_changes *how, struct arena *arena,
		struct stats_segment **segments, size_t *count, struct sonde_err *err);

/* Standard deviation of a series' noise, from neighbours: changes of level do not count. scratch holds n values. */
double stats_series_noise(const double *x, size_t n, double *scratch);

#endif
