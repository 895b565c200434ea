/*
 * aggregate: the states of aggregates, and a table of functions for each kind.
 *
 * States are in one array per aggregate, indexed by the slot of the group; zeros are an empty state. Rows come a
 * block at a time: slots[i] is the group of row i; slot 0 belongs to no group and receives the rows that were
 * filtered out. Private to engine/.
 */
#ifndef SONDE_ENGINE_AGGREGATE_H
#define SONDE_ENGINE_AGGREGATE_H

#include "engine/distinct.h"
#include "engine/exactsum.h"
#include "engine/scan-query.h"

/* Shared by the aggregates of one worker. */
struct aggregate_memory {
	struct arena *arena; /* for sketches */
	struct heap *heap;   /* for interval sets */
	/* scratch for interval sets: intervals sorted by slot */
	struct engine_interval *intervals, *spare;
	uint32_t *places, *touched;
	size_t slot_cap;
};

/* A block of rows. */
struct aggregate_input {
	size_t rows;
	const uint32_t *slots;
	const int64_t *ints;  /* of the column, or NULL */
	const double *reals;  /* of the column, or NULL */
	const int64_t *ts_ns; /* of the table */
	const int64_t *dur_ns;
	size_t slot_count;
};

struct aggregate_ops {
	size_t bytes; /* of a state */
	int (*add)(void *states, const struct aggregate_input *in, struct aggregate_memory *memory);
	int (*merge)(void *into, void *from, struct aggregate_memory *memory); /* may empty `from` */
	int (*save)(struct buf *out, const void *state);
	int (*load)(struct unpack *u, void *state, struct aggregate_memory *memory);
	void (*release)(void *state); /* NULL: nothing to do */
};

/* The states, which scan-query-read.c reads. */

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

extern const struct aggregate_ops aggregate_ops[ENGINE_OPS];

void aggregate_memory_release(struct aggregate_memory *memory);

#endif
