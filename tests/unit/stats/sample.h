/* sample: random arrays for tests, of the kinds that break things: smooth, tied, huge, ordered. */
#ifndef SONDE_TEST_STATS_SAMPLE_H
#define SONDE_TEST_STATS_SAMPLE_H

#include "stats/rng.h"

#include <math.h>
#include <stddef.h>

enum { SAMPLE_KINDS = 5 };

static inline double sample_value(struct stats_rng *r, int kind, size_t i)
{
	switch (kind % SAMPLE_KINDS) {
	case 0:
		return stats_rng_normal(r);
	case 1:
		return (double)stats_rng_below(r, 4);
	case 2:
		return stats_rng_normal(r) * pow(10, 300 * (stats_rng_uniform(r) - 0.5));
	case 3:
		return (double)i;
	default:
		return -(double)(i / 3);
	}
}

static inline void sample_fill(struct stats_rng *r, int kind, double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] = sample_value(r, kind, i);
}

#endif
