/*
 * overlap: which iterations of two programs ran at the same time.
 *
 * An asynchronous duet lets both sides loop freely. An iteration of A and one of B that overlap had the same machine
 * conditions for that time, so each overlapping pair is one log-ratio, weighted by the shared time. An iteration may
 * be in several pairs.
 *
 * `rate` is the overlap's share of the longer of the two. All pairs with a rate above min_rate are found, in any
 * order of the spans and even if spans of one side overlap each other; empty spans (end <= start) have no pairs.
 * Pairs are sorted by a, then b.
 */
#ifndef SONDE_STATS_OVERLAP_H
#define SONDE_STATS_OVERLAP_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define STATS_OVERLAP_RATE 0.4 /* duetbench's choice, empirical */

struct stats_span {
	int64_t start_ns, end_ns;
};

struct stats_overlap {
	size_t a, b; /* indexes of the spans */
	uint64_t overlap_ns;
	double rate;      /* min(overlap / length of a, overlap / length of b), above 0 and at most 1 */
	double log_ratio; /* ln(length of b / length of a) */
};

/* O(n log n) time and n pointers for sorting, plus the pairs, all from the arena; -ENOMEM on failure. */
int stats_overlaps(const struct stats_span *a, size_t na, const struct stats_span *b, size_t nb, double min_rate,
		struct arena *arena, struct stats_overlap **pairs, size_t *count, struct sonde_err *err);

#endif
