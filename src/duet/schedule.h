/*
 * plan: in which order, and on which CPUs, the sides of every run take their turns.
 *
 * A plan is an endless series that a seed repeats. Random order alone may give
 * A the first turn five times in a row; here it is balanced: within a run of an
 * even number of turns each side is first in half of them, and runs with one turn
 * (or an odd one left over) come in groups of which half start with B. Groups double in
 * length. The first ones are short, so that few runs are balanced too. Short ones all
 * along would be half foreseeable: in a group of g the order of a run says something of
 * the others', and a disturbance that comes back with every third execution, as a quota's
 * does, keeps step with that. The variance of the answer is then up to g / (g - 1) times
 * what the runs show, and intervals exclude the truth too often (bench/duet-sim). Where
 * the sides are pinned to CPUs of their own, exchanging these is balanced in the same way
 * and independently of the order. A `seq` plan has neither: A comes first, always.
 */
#ifndef SONDE_DUET_SCHEDULE_H
#define SONDE_DUET_SCHEDULE_H

#include "duet/duet.h"
#include "stats/rng.h"

enum { DUET_TURNS_MAX = 4096, DUET_GROUP_FIRST = 4, DUET_GROUP_MAX = 64 };

/* One pair (seq, rmit, sync), or one stretch of an async run. */
struct duet_turn {
	bool is_first_b;
	bool is_swapped;
};

struct duet_plan {
	enum duet_design design;
	size_t turns;   /* in each run */
	bool is_pinned; /* the sides have CPUs of their own */
	size_t group;   /* runs in the group under way; the first has 2 unless that is set before it */
	size_t made;    /* runs so far */
	/* private */
	size_t in_group; /* runs so far of the group */
	struct stats_rng rng;
	bool odd_first_b[DUET_GROUP_MAX], odd_swapped[DUET_GROUP_MAX]; /* of the group under way */
};

/* turns is held to 1 .. DUET_TURNS_MAX. */
void duet_plan_init(struct duet_plan *p, enum duet_design design, size_t turns, bool is_pinned, uint64_t seed);
/* The turns of the next run; room for p->turns. */
void duet_plan_next(struct duet_plan *p, struct duet_turn *turns);

#endif
