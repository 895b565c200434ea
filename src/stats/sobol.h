/*
 * sobol: low-discrepancy points in the unit cube, any number of them, scrambled by a seed.
 *
 * The first 2^k points have 2^(k-m) in each dyadic interval of length 2^-m of every axis (m <= k), unlike random
 * points; Owen's scrambling preserves that and makes each point uniform. A sequence is plain storage; points are
 * accessed by index, in any order.
 */
#ifndef SONDE_STATS_SOBOL_H
#define SONDE_STATS_SOBOL_H

#include <stddef.h>
#include <stdint.h>

enum { STATS_SOBOL_DIMS = 64 };

struct stats_sobol {
	size_t dims; /* at most STATS_SOBOL_DIMS */
	/* private */
	uint32_t scramble[STATS_SOBOL_DIMS];
	uint32_t v[STATS_SOBOL_DIMS][32];
};

void stats_sobol_init(struct stats_sobol *s, size_t dims, uint64_t seed);
/* Point `index` of the sequence, s->dims coordinates in (0, 1). */
void stats_sobol_point(const struct stats_sobol *s, uint32_t index, double *x);

#endif
