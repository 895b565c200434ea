/*
 * duet-groups: the procedures that duet-sim measures, their simulated machines and required coverage.
 */
#ifndef SONDE_BENCH_DUET_GROUPS_H
#define SONDE_BENCH_DUET_GROUPS_H

#include "duet-worlds.h"
#include "stats/interval.h"

#include <stdint.h>

/* A procedure computes the interval of an experiment; .n is the number of runs it used. */
typedef struct stats_interval procedure_fn(struct experiment *e, uint64_t seed);

/* True if the interval indicates a change. */
bool excludes_none(const struct stats_interval *i);

/* EXACT: 94 to 96 %; AT_LEAST: 93.5 %; both: at most 5 % of A/A intervals exclude 1. */
enum bar { EXACT, AT_LEAST, NONE };

struct group {
	const char *name;
	procedure_fn *procedure;
	enum bar bar;
	const struct world *worlds[8];
	size_t pairs[3], runs[16]; /* every combination; terminated by 0 */
};

extern const struct group groups[];
extern const size_t group_count;

#endif
