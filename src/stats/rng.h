/*
 * rng: random numbers that a seed repeats: integers and uniform ones on any machine,
 * the others with the same libm.
 *
 * xoshiro256** (Blackman and Vigna, ACM TOMS 47(4), 2021), seeded through
 * splitmix64. A generator is plain storage: copy it to remember a place. Two
 * ways to many independent streams: numbered ones (the same seed, another
 * `stream`), and stats_rng_split, which leaves the parent 2^128 steps further.
 * Not for secrets.
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
uint64_t stats_rng_below(struct stats_rng *r, uint64_t n); /* 0 .. n-1, all alike; 0 for n = 0 */
double stats_rng_uniform(struct stats_rng *r);             /* [0, 1), multiples of 2^-53 */
double stats_rng_open(struct stats_rng *r);                /* (0, 1) */
double stats_rng_normal(struct stats_rng *r);              /* mean 0, variance 1 */
double stats_rng_exponential(struct stats_rng *r);         /* mean 1 */
/* n items of `size` bytes each into random order, every order alike. */
void stats_rng_shuffle(struct stats_rng *r, void *items, size_t n, size_t size);

#endif
