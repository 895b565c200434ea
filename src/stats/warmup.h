/*
 * warmup: where a series of iterations has settled.
 *
 * Cutting n values off the front makes the mean of the rest less biased and less
 * certain; the cut at which its standard error is smallest is taken (MSER-5, on
 * batches of 5, by their medians so that one stray iteration does not count). If
 * that is in the second half, the series has not settled while we looked.
 */
#ifndef SONDE_STATS_WARMUP_H
#define SONDE_STATS_WARMUP_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum { STATS_WARMUP_BATCH = 5 };

struct stats_warmup {
	size_t first;    /* the first steady value; 0 when there is no warm-up, n when it never settled */
	bool is_settled; /* false also for fewer than 20 values: too few to say; first is 0 then */
};

/* -EINVAL for NaN among the values, -ENOMEM. */
int stats_warmup(const double *x, size_t n, struct arena *arena, struct stats_warmup *out, struct sonde_err *err);

#endif
