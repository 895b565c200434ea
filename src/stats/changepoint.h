/*
 * changepoint: where the level of a series changed; for histories of results.
 *
 * The series is cut into segments that minimize the distances from the segments' medians plus a penalty per cut: an
 * outlier does not cause a cut, a lasting change of level does. The optimum is found, not a greedy solution.
 * Distances are in units of the noise, estimated from neighbours, so scale and changes do not matter. Values that
 * depend on their predecessors (a drifting machine) look like many small changes. Time is quadratic in the longest
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
	size_t shortest; /* minimum values per segment; 0: 3 */
	double penalty;  /* per cut, in units of the noise; 0: 1 series in 100 is cut falsely (skewed: 3) */
};

/* Returns segments in order that cover the series; one if nothing changed. -EINVAL for non-finite values, -ENOMEM. */
int stats_changepoints(const double *x, size_t n, const struct stats_changes *how, struct arena *arena,
		struct stats_segment **segments, size_t *count, struct sonde_err *err);

/* Standard deviation of a series' noise, from neighbours, so changes of level do not count. scratch holds n values. */
double stats_series_noise(const double *x, size_t n, double *scratch);

#endif
