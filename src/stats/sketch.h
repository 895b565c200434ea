/*
 * sketch: quantiles of any number of values in little memory, mergeable.
 *
 * Values are counted in buckets of constant relative width, so that every quantile is within a relative error of
 * STATS_SKETCH_ERROR of a value of that rank. Buckets follow the bits of a double (its exponent and the first
 * STATS_SKETCH_BITS of its fraction): no logarithm, no rounding, identical on any machine. Counts are integers and
 * buckets are never collapsed, so sketches can be merged in any order and grouping with identical results. A sketch
 * does not keep a sum, which would round.
 *
 * Pages of buckets come from the arena as needed: 1 KiB for values within a factor of 2, 20 KiB for nanoseconds to
 * minutes, at most 4 MiB.
 */
#ifndef SONDE_STATS_SKETCH_H
#define SONDE_STATS_SKETCH_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATS_SKETCH_BITS 7
#define STATS_SKETCH_ERROR (1.0 / 256)

struct stats_sketch {
	uint64_t count;   /* valid values */
	uint64_t invalid; /* NaN and infinities */
	double min, max;  /* exact; NaN while count = 0 */
	/* private */
	struct arena *arena;
	uint64_t zero;       /* values too small to be normal numbers */
	uint64_t **pages[2]; /* of negative and positive values, by exponent */
};

void stats_sketch_init(struct stats_sketch *s, struct arena *arena);
/* 0, or -ENOMEM: then nothing was counted. A value that is not finite counts as invalid. */
int stats_sketch_add(struct stats_sketch *s, double value, uint64_t times);
int stats_sketch_merge(struct stats_sketch *s, const struct stats_sketch *other);
/* The value of rank p * (count - 1), rounded down; p is clamped to 0..1, where the ends are exact; NaN if empty. */
double stats_sketch_quantile(const struct stats_sketch *s, double p);

/* Iterates over the buckets in ascending order: start with i = 0; false at the end. lo and hi are those of the
 * bucket. */
struct stats_bucket {
	double lo, hi; /* lo <= |value| < hi, with the value's sign; both 0 for zero */
	double value;  /* represents all values in it; adding it to another sketch increments the same bucket */
	uint64_t count;
};
bool stats_sketch_next(const struct stats_sketch *s, size_t *i, struct stats_bucket *bucket);

#endif
