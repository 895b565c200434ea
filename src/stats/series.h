/*
 * series: values in the order in which they were measured: serial correlation, changes of level, warm-up.
 *
 * Adjacent iterations are similar (caches, frequency, neighbours), so n of them carry less information than n
 * independent ones. Fewer than 4 values, or constant values, show no correlation; NaN among them gives NaN (a length:
 * 1).
 */
#ifndef SONDE_STATS_SERIES_H
#define SONDE_STATS_SERIES_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Correlation of the series with itself at distance `lag`, -1 .. 1; 0 if undefined. */
double stats_autocorrelation(const double *x, size_t n, size_t lag);
/* Block length for a circular block bootstrap of the mean; 1 .. n/3, at least 1. */
size_t stats_block_length(const double *x, size_t n);

/*
 * Change points: where the level changed. The series is cut into segments that minimize the distances from the
 * segments' medians plus a penalty per cut: an outlier does not cause a cut, a lasting change of level does. The
 * optimum is found, not a greedy solution. Distances are in units of the noise, estimated from neighbours, so scale
 * and changes do not matter. Values that depend on their predecessors (a drifting machine) look like many small
 * changes. Time is quadratic in the longest segment: for thousands of values, not millions.
 */

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

/*
 * Warm-up: the last segment, and preceding ones with a level that differs by less than the noise of a value, are the
 * steady part. It must be at least a third of the series; otherwise the series has not settled. Times that fall by
 * factors are best passed as logarithms.
 */

enum { STATS_WARMUP_MIN = 10 };

struct stats_warmup {
	size_t first;    /* the first steady value; 0 if there was no warm-up */
	bool is_settled; /* false: no steady part (first is n), or fewer than STATS_WARMUP_MIN values (first is 0) */
};

/* -EINVAL for non-finite values, -ENOMEM. Long series are reduced to the medians of batches. */
int stats_warmup(const double *x, size_t n, struct arena *arena, struct stats_warmup *out, struct sonde_err *err);

#endif
