/*
 * duet: the terms of a comparison of two programs, A and B.
 *
 * An *iteration* is the smallest timed unit of work: one execution of a command, or one turn of a loop inside a
 * program. A *pair* is an iteration of A and one of B that are compared with each other. A *run* is repeated as a
 * whole, a block of pairs that share a state of the machine; it is the unit of replication: n runs are n
 * observations, however many pairs each has. A *design* defines how the two sides of a run share the machine and
 * time.
 */
#ifndef SONDE_DUET_DUET_H
#define SONDE_DUET_DUET_H

#include "base/err.h"
#include "stats/effect.h"
#include "stats/rng.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum duet_side { DUET_A, DUET_B, DUET_SIDES };

enum duet_design {
	DUET_SEQ,   /* A then B, always in that order, not at the same time */
	DUET_RMIT,  /* one after the other in balanced random order (randomised multiple interleaved trials) */
	DUET_SYNC,  /* both at once, every iteration started together */
	DUET_ASYNC, /* both loop freely at once; pairs are iterations that overlapped */
	DUET_DESIGNS
};

/* X(NAME, name, what): the metrics; more is worse unless configured otherwise. */
#define DUET_METRIC_ROWS(X) \
	X(WALL, wall, "time that passed") \
	X(CPU, cpu, "processor time, user and system") \
	X(USER, user, "processor time in user mode") \
	X(SYSTEM, system, "processor time in the kernel") \
	X(RSS, rss, "largest resident memory") \
	X(FAULTS, faults, "page faults without input") \
	X(MAJOR_FAULTS, major_faults, "page faults that had to wait for input") \
	X(WAITS, waits, "times it gave up a processor to wait") \
	X(PREEMPTIONS, preemptions, "times it lost a processor to others") \
	X(BLOCKS_READ, blocks_read, "blocks of 512 bytes that it caused to be read") \
	X(BLOCKS_WRITTEN, blocks_written, "blocks of 512 bytes that it caused to be written") \
	X(VALUE, value, "the value that an iteration reported")

enum duet_metric {
#define DUET_METRIC_ENUM(NAME, name, what) DUET_##NAME,
	DUET_METRIC_ROWS(DUET_METRIC_ENUM)
#undef DUET_METRIC_ENUM
			DUET_METRICS
};

/* Times in ns, memory in bytes; NaN if unknown, never 0. */
struct duet_iteration {
	int64_t start_ns, end_ns; /* CLOCK_MONOTONIC if sonde measured; both 0: unknown */
	double metrics[DUET_METRICS];
};

struct duet_samples {
	struct duet_iteration *items; /* in order of time */
	size_t count;
	/* private */
	size_t capacity;
};

/* The measurements of a run. */
struct duet_run {
	size_t number; /* from 0, in order of time */
	enum duet_design design;
	bool is_first_b; /* started with B (seq, rmit: the first pair; sync, async: was started first) */
	bool is_swapped; /* the sides' CPUs were exchanged at its start */
	int64_t start_ns, end_ns;
	struct duet_samples sides[DUET_SIDES];
};

extern const char *const duet_design_names[];  /* "seq", ..., NULL */
extern const char *const duet_design_titles[]; /* display names */
extern const char *const duet_metric_names[];  /* "wall", ..., NULL */
/* Methods for intervals: "auto", "t", "ranks", "signs", "bootstrap", NULL; and their names in stats/. */
extern const char *const duet_interval_names[];
extern const enum stats_effect_method duet_interval_methods[];

/* An iteration without metrics except wall, which is set if both times are known. */
struct duet_iteration duet_iteration_at(int64_t start_ns, int64_t end_ns);
/* 0 or -ENOMEM. */
int duet_samples_add(struct duet_samples *s, const struct duet_iteration *iteration);
void duet_samples_release(struct duet_samples *s);
void duet_run_release(struct duet_run *run);
double duet_metric_median(const struct duet_run *runs, size_t count, enum duet_side side, enum duet_metric metric);

/*
 * The order of the sides in every run, and their CPUs.
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

/*
 * A runner executes a run. compare.h decides what to run and evaluates it; a runner knows commands, containers or, in
 * tests, only a simulated clock.
 */

struct duet_task {
	enum duet_design design;
	const struct duet_turn *turns; /* async: at least turn_count iterations of each side, placed as in turns[0] */
	size_t turn_count;
	bool is_aa; /* both sides execute A */
};

struct duet_runner {
	void *self;
	int64_t (*now_ns)(void *self);
	/*
	 * Executes the task and fills the sides, start and end of a zeroed run, which the caller releases. No process
	 * that it started is left running, also on failure. -EINTR: the user requests to stop. -ECHILD: a side
	 * failed; -ETIMEDOUT: it took too long; other errors are internal.
	 */
	int (*run)(void *self, const struct duet_task *task, struct duet_run *run, struct sonde_err *err);
};

#endif
