/*
 * warmup: where a series of iterations has settled.
 *
 * The series is cut where its level changes (changepoint.h); the last segment, and
 * those before it whose level differs by less than the noise of a value, are the
 * steady part. A third of the series must be: if not, it has not settled while we
 * looked. One stray iteration is no change. Times that fall by factors are best
 * given as logarithms.
 */
#ifndef SONDE_STATS_WARMUP_H
#define SONDE_STATS_WARMUP_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum { STATS_WARMUP_MIN = 10 };

struct stats_warmup {
	size_t first;    /* the first steady value; 0 when there is no warm-up */
	bool is_settled; /* false: no steady part (first is n), or fewer than STATS_WARMUP_MIN values (first is 0) */
};

/* -EINVAL for values not finite, -ENOMEM. Long series are looked at by the medians of batches. */
int stats_warmup(const double *x, size_t n, struct arena *arena, struct stats_warmup *out, struct sonde_err *err);

#endif
