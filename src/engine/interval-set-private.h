/*
 * interval-set-private: the encoding of a run, shared by interval-set.c and sweep.c. Private to engine/.
 *
 * Intervals: for each the gap since the end of the previous one (0 for the first, which starts at `first`) and its
 * length, as written by pack_uint; weighted ones have a third number, their weight. Points: the gap since the
 * previous one.
 */
#ifndef SONDE_ENGINE_INTERVAL_SET_PRIVATE_H
#define SONDE_ENGINE_INTERVAL_SET_PRIVATE_H

#include "engine/interval-set.h"

enum run_kind { RUN_INTERVALS, RUN_WEIGHTED, RUN_BEGINS, RUN_ENDS };

struct engine_run {
	const uint8_t *data;
	int64_t first; /* the time of its first start or point */
	uint32_t bytes;
	uint8_t kind;
};

/* Written by this process, so not checked. */
static inline uint64_t run_number(const uint8_t **at)
{
	uint64_t v = **at & 127;

	for (unsigned shift = 7; *(*at)++ >= 128; shift += 7)
		v |= (uint64_t)(**at & 127) << shift;
	return v;
}

/* Sort n intervals by from; spare has room for n. */
void intervals_sort(struct engine_interval *intervals, struct engine_interval *spare, size_t n);
/* Join intervals that overlap or touch; sorted before and after. Returns how many are left. */
size_t intervals_join(struct engine_interval *intervals, size_t n);

#endif
