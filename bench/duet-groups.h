/*
 * duet-groups: which procedures duet-sim measures, on which machines, and what is asked of them.
 */
#ifndef SONDE_BENCH_DUET_GROUPS_H
#define SONDE_BENCH_DUET_GROUPS_H

#include "duet-worlds.h"
#include "stats/interval.h"

#include <stdint.h>

/* A procedure makes the interval of an experiment and says in .n how many runs it used. */
typedef struct stats_interval procedure_fn(struct experiment *e, uint64_t seed);

/* Does it say that there is a change? */
bool excludes_none(const struct stats_interval *i);

/* EXACT: 94 to 96 %; AT_LEAST: 93.5 %; both: at most 5 % of A/A intervals exclude 1. */
enum bar { EXACT, AT_LEAST, NONE };

struct group {
	const char *name;
	procedure_fn *procedure;
	enum bar bar;
	const struct world *worlds[8];
	size_t pairs[3], runs[16]; /* every combination; ended by 0 */
};

extern const struct group groups[];
extern const size_t group_count;

#endif
