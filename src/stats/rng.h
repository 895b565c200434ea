/*
 * rng: random numbers, reproducible by seed: integers and uniform ones on any machine, the others with the same libm;
 * and low-discrepancy points.
 *
 * xoshiro256** (Blackman and Vigna, ACM TOMS 47(4), 2021), seeded through splitmix64. A generator is plain storage:
 * copy it to save a position. Streams of the same seed are independent. Not for cryptography.
 */
#ifndef SONDE_STATS_RNG_H
#define SONDE_STATS_RNG_H

#include <stddef.h>
#include <stdint.h>

struct stats_rng {
	/* private */
	uint64_t s[4];
};

void stats_rng_init(struct stats_rng *r, uint64_t seed, uint64_t stream);

uint64_t stats_rng_next(struct stats_rng *r);
uint64_t stats_rng_below(struct stats_rng *r, uint64_t n); /* 0 .. n-1, uniform; 0 for n = 0 */
double stats_rng_uniform(struct stats_rng *r);             /* [0, 1), multiples of 2^-53 */
double stats_rng_open(struct stats_rng *r);                /* (0, 1) */
double stats_rng_normal(struct stats_rng *r);              /* mean 0, variance 1 */
double stats_rng_exponential(struct stats_rng *r);         /* mean 1 */
/* Shuffles n items of `size` bytes each; every order has the same probability. */
void stats_rng_shuffle(struct stats_rng *r, void *items, size_t n, size_t size);

/*
 * Sobol's low-discrepancy points in the unit cube, any number of them, scrambled by a seed. The first 2^k points have
 * 2^(k-m) in each dyadic interval of length 2^-m of every axis (m <= k), unlike random points; Owen's scrambling
 * preserves that and makes each point uniform. A sequence is plain storage; points are accessed by index, in any order.
 */

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
