/*
 * schedule: the order of the sides in every run, and their CPUs.
 *
 * A plan is an endless sequence that is reproducible by seed. Random order alone may put A first five times in a row;
 * here the order is balanced: within a run with an even number of turns each side is first in half of them, and runs
 * with one turn (or an odd one left) come in groups of which half start with B. Groups double in length. The first
 * ones are short, so that few runs are balanced too. If all were short, the order would be partly predictable: in a
 * group of g, the order of one run depends on the others', and a periodic disturbance, such as every third execution
 * under a quota, can correlate with it. The variance of the answer is then up to g / (g - 1) times what the runs
 * show, and intervals exclude the truth too often (bench/duet-sim). If the sides are pinned to separate CPUs,
 * swapping these is balanced in the same way, independently of the order. A `seq` plan has neither: A is always
 * first.
 */
#ifndef SONDE_DUET_SCHEDULE_H
#define SONDE_DUET_SCHEDULE_H

#include "duet/duet.h"
#include "stats/rng.h"

enum { DUET_TURNS_MAX = 4096, DUET_GROUP_FIRST = 4, DUET_GROUP_MAX = 64 };

/* One pair (seq, rmit, sync), or one interval of an async run. */
struct duet_turn {
	bool is_first_b;
	bool is_swapped;
};

struct duet_plan {
	enum duet_design design;
	size_t turns;   /* per run */
	bool is_pinned; /* the sides have separate CPUs */
	size_t group;   /* runs in the current group; the first has 2 unless set before */
	size_t made;    /* runs so far */
	/* private */
	size_t in_group; /* runs so far in the group */
	struct stats_rng rng;
	bool odd_first_b[DUET_GROUP_MAX], odd_swapped[DUET_GROUP_MAX]; /* of the current group */
};

/* turns is clamped to 1 .. DUET_TURNS_MAX. */
void duet_plan_init(struct duet_plan *p, enum duet_design design, size_t turns, bool is_pinned, uint64_t seed);
/* Writes the turns of the next run; needs space for p->turns. */
void duet_plan_next(struct duet_plan *p, struct duet_turn *turns);

#endif
