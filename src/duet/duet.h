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

#include "stats/effect.h"

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

#endif
