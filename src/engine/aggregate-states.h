/*
 * aggregate-states: the state types of aggregates, read by scan-query-read.c. Private to engine/.
 */
#ifndef SONDE_ENGINE_AGGREGATE_STATES_H
#define SONDE_ENGINE_AGGREGATE_STATES_H

#include "engine/aggregate.h"
#include "engine/distinct.h"
#include "engine/exactsum.h"

struct sum_state {
	engine_wide sum;
	uint64_t count;
	uint64_t bits; /* zigzag codes of the values, or-ed: whether some are negative, and a bound on their size */
};

struct extreme_state {
	int64_t value;
	uint64_t count;
};

struct moments_state {
	engine_wide sum, squares;
	uint64_t count;
};

/* COUNT: uint64_t. QUANTILES: struct stats_sketch. DISTINCT: struct distinct. SUM_REAL: struct exactsum.
 * UNION, CONCURRENCY: struct interval_set. */

/* aggregate-interval-set.c */
int aggregate_add_union(void *states, const struct aggregate_input *in, struct aggregate_memory *memory);
int aggregate_add_concurrency(void *states, const struct aggregate_input *in, struct aggregate_memory *memory);
int aggregate_merge_interval_set(void *into, void *from, struct aggregate_memory *memory);
int aggregate_save_interval_set(struct buf *out, const void *state);
int aggregate_load_interval_set(struct unpack *u, void *state, struct aggregate_memory *memory);
void aggregate_release_interval_set(void *state);

#endif
