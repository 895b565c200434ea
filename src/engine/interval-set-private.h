/*
 * What interval-set.c and sweep.c share: the bytes of a run. Private to engine/.
 *
 * Intervals: for each the gap since the end of the one before (the first: since
 * `first`, so 0) and its length, as pack_uint writes them; weighted ones have a
 * third number, for how many they count. Points: the gap since the one before.
 */
#ifndef SONDE_ENGINE_INTERVAL_SET_PRIVATE_H
#define SONDE_ENGINE_INTERVAL_SET_PRIVATE_H

#include "engine/interval-set.h"

enum run_kind { RUN_INTERVALS, RUN_WEIGHTED, RUN_BEGINS, RUN_ENDS };

struct engine_run {
	const uint8_t *data;
	int64_t first; /* the time of its first begin or point */
	uint32_t bytes;
	uint8_t kind;
};

/* These bytes were written by us, whole: no check. */
static inline uint64_t run_number(const uint8_t **at)
{
	uint64_t v = **at & 127;

	for (unsigned shift = 7; *(*at)++ >= 128; shift += 7)
		v |= (uint64_t)(**at & 127) << shift;
	return v;
}

/* Order n of them by from; spare has room for n. */
void intervals_sort(struct engine_interval *intervals, struct engine_interval *spare, size_t n);
/* Those that overlap or touch become one; sorted before and after. How many are left. */
size_t intervals_join(struct engine_interval *intervals, size_t n);

#endif
