/*
 * cover: the time that events cover, exactly.
 *
 * A cover holds intervals [from, to) in runs: each is sorted, its intervals
 * overlap neither one another nor touch, and lies in a few bytes an interval
 * in a heap. Runs may overlap: a block of a table becomes one. A counted cover
 * keeps every begin and end instead, so that it can tell how many events were
 * under way at once.
 *
 * engine_sweep goes over any number of covers together in the order of time:
 * from it come unions, overlaps, differences and concurrency, all in integer
 * nanoseconds and independent of how the events were cut into runs.
 */
#ifndef SONDE_ENGINE_INTERVAL_SET_H
#define SONDE_ENGINE_INTERVAL_SET_H

#include "engine/heap.h"
#include "engine/pack.h"

struct engine_interval {
	int64_t from, to;
};

struct engine_run;

/* All zero: empty. The bytes of its runs are a heap's. */
struct interval_set {
	/* private */
	struct engine_run *runs;
	uint32_t count, cap;
};

#define ENGINE_RUN_INTERVALS 65536u /* at most, in one run */

void interval_set_release(struct interval_set *c);
/* Take n <= ENGINE_RUN_INTERVALS intervals, in any order, those with to <= from not; overwrites them, and spare,
 * which has room for as many. 0 or -ENOMEM. */
int interval_set_add(struct interval_set *c, struct heap *heap, struct engine_interval *intervals,
		struct engine_interval *spare, size_t n);
/* The same, every begin and end kept. */
int interval_set_count(struct interval_set *c, struct heap *heap, struct engine_interval *intervals,
		struct engine_interval *spare, size_t n);
/* Move all runs of `from` to c; their heap must live on. */
int interval_set_merge(struct interval_set *c, struct interval_set *from);

/* What a sweep goes over: a cover and the class that it counts as, 0 .. 63. */
struct engine_sweep_set {
	const struct interval_set *cover;
	unsigned class;
};

/* From `from` to `to` the classes of mask were covered, by `active` intervals. Never called for empty stretches. */
typedef void engine_visit(void *arg, int64_t from, int64_t to, uint64_t mask, uint64_t active);

int engine_sweep(const struct engine_sweep_set *sets, size_t count, engine_visit *visit, void *arg);
/* Nanoseconds covered by any of them; -ENOMEM. */
int64_t interval_set_ns(const struct engine_sweep_set *sets, size_t count);

/* As one run after the other without overlaps (or every begin and end, of a counted one): the same for the same set. */
int interval_set_save(struct buf *out, const struct interval_set *c);
int interval_set_load(struct unpack *u, struct heap *heap, struct interval_set *c);

#endif
