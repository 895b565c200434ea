/*
 * interval-set: the time covered by events, exactly.
 *
 * An interval set holds intervals [from, to) in runs. The intervals of a run are sorted and neither overlap nor
 * touch; a few bytes per interval are stored in a heap. Runs may overlap: each block of a table becomes one. A
 * counted set keeps every start and end instead, so that it can report concurrency.
 *
 * engine_sweep visits any number of sets together in time order: it computes unions, overlaps, differences and
 * concurrency, in integer nanoseconds and independent of how the events were split into runs.
 */
#ifndef SONDE_ENGINE_INTERVAL_SET_H
#define SONDE_ENGINE_INTERVAL_SET_H

#include "engine/heap.h"
#include "engine/pack.h"

struct engine_interval {
	int64_t from, to;
};

struct engine_run;

/* All zero: empty. The encoded runs belong to a heap. */
struct interval_set {
	/* private */
	struct engine_run *runs;
	uint32_t count, cap;
};

#define ENGINE_RUN_INTERVALS 65536u /* maximum in one run */

void interval_set_release(struct interval_set *c);
/*
 * Add n <= ENGINE_RUN_INTERVALS intervals, in any order; those with to <= from are ignored. Overwrites them and
 * spare, which has room for as many. 0 or -ENOMEM.
 */
int interval_set_add(struct interval_set *c, struct heap *heap, struct engine_interval *intervals,
		struct engine_interval *spare, size_t n);
/* The same, keeping every start and end. */
int interval_set_count(struct interval_set *c, struct heap *heap, struct engine_interval *intervals,
		struct engine_interval *spare, size_t n);
/* Move all runs of `from` to c; their heap must outlive c. */
int interval_set_merge(struct interval_set *c, struct interval_set *from);

/* Input of a sweep: an interval set and its class, 0 .. 63. */
struct engine_sweep_set {
	const struct interval_set *cover;
	unsigned class;
};

/* In [from, to) the classes of mask were covered, by `active` intervals. Never called for empty intervals. */
typedef void engine_visit(void *arg, int64_t from, int64_t to, uint64_t mask, uint64_t active);

int engine_sweep(const struct engine_sweep_set *sets, size_t count, engine_visit *visit, void *arg);
/* Nanoseconds covered by any of the sets; -ENOMEM on failure. */
int64_t interval_set_ns(const struct engine_sweep_set *sets, size_t count);

/* Save as one run without overlaps (of a counted set: every start and end). Equal sets give equal bytes. */
int interval_set_save(struct buf *out, const struct interval_set *c);
int interval_set_load(struct unpack *u, struct heap *heap, struct interval_set *c);

#endif
