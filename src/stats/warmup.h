/*
 * warmup: where a series of iterations reaches its steady state.
 *
 * The series is cut where its level changes (changepoint.h); the last segment, and preceding ones with a level that
 * differs by less than the noise of a value, are the steady part. It must be at least a third of the series;
 * otherwise the series has not settled. A single outlier is not a change. Times that fall by factors are best passed
 * as logarithms.
 */
#ifndef SONDE_STATS_WARMUP_H
#define SONDE_STATS_WARMUP_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum { STATS_WARMUP_MIN = 10 };

struct stats_warmup {
	size_t first;    /* the first steady value; 0 if there was no warm-up */
	bool is_settled; /* false: no steady part (first is n), or fewer than STATS_WARMUP_MIN values (first is 0) */
};

/* -EINVAL for non-finite values, -ENOMEM. Long series are reduced to the medians of batches. */
int stats_warmup(const double *x, size_t n, struct arena *arena, struct stats_warmup *out, struct sonde_err *err);

#endif
