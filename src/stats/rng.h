/*
 * rng: random numbers, reproducible by seed: integers and uniform ones on any machine, the others with the same libm.
 *
 * xoshiro256** (Blackman and Vigna, ACM TOMS 47(4), 2021), seeded through splitmix64. A generator is plain storage:
 * copy it to save a position. Two ways to many independent streams: numbered ones (the same seed, another `stream`),
 * and stats_rng_split, which advances the parent by 2^128 steps. Not for cryptography.
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
struct stats_rng stats_rng_split(struct stats_rng *r);

uint64_t stats_rng_next(struct stats_rng *r);
uint64_t stats_rng_below(struct stats_rng *r, uint64_t n); /* 0 .. n-1, uniform; 0 for n = 0 */
double stats_rng_uniform(struct stats_rng *r);             /* [0, 1), multiples of 2^-53 */
double stats_rng_open(struct stats_rng *r);                /* (0, 1) */
double stats_rng_normal(struct stats_rng *r);              /* mean 0, variance 1 */
double stats_rng_exponential(struct stats_rng *r);         /* mean 1 */
/* Shuffles n items of `size` bytes each; every order has the same probability. */
void stats_rng_shuffle(struct stats_rng *r, void *items, size_t n, size_t size);

#endif
