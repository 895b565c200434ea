/*
 * compare: runs two programs until it is certain which is faster, or the budget ends.
 *
 * 1. One turn to warm caches, which also measures how long a turn takes.
 * 2. With `is_auto` a pilot: A against itself in every design that qualifies; the one with the least variance per
 *    second is chosen. If that would take more than a fifth of the budget, or two copies must not run at once (a port,
 *    a lock, a written file) or fail when they do: rmit.
 * 3. The number of turns per run (one for whole commands, else so that about 40 runs fit the budget), and the maximum
 *    number of runs.
 * 4. A against itself in the chosen design (unless the pilot did it): does it report a difference where none exists?
 * 5. Runs, with interim analyses at planned numbers of them (stats/sequential.h), until one is conclusive and there
 *    are enough executions to exclude that one program's leftovers change the time of the other (carry-over).
 *
 * This code reads no clock and starts no process: the runner does.
 */
#ifndef SONDE_DUET_COMPARE_H
#define SONDE_DUET_COMPARE_H

#include "duet/duet.h"
#include "duet/pairs.h"
#include "stats/effect.h"
#include "stats/verdict.h"

/* Decided before the first run that counts. */
struct duet_schedule {
	enum duet_design design;
	size_t turns;    /* per run */
	size_t runs_max; /* maximum that the interim analyses are planned for */
	bool has_signs;  /* A against itself was near or far off: judge by signs (stats/ranks.h), not ranks */
	bool is_settled;
};

struct duet_result;

struct duet_setup {
	enum duet_design design;
	bool is_auto;                /* the pilot chooses the design */
	struct duet_pairing pairing; /* metric, direction, warm-up */
	double margin;               /* the change that matters: 1.01 is 1 % */
	double level;
	int interval;      /* index in duet_interval_names; 0: by the number of runs and the runs of A against itself */
	int64_t budget_ns; /* 0: the runs exist already, and no more are made */
	uint64_t seed;
	size_t turns;            /* per run; 0: by the budget */
	size_t runs_max;         /* 0: by the budget */
	bool is_pinned;          /* sides that run at once have separate CPUs */
	bool has_prepare;        /* a command prepares each execution */
	bool has_priority;       /* the programs run at a higher scheduling priority */
	bool has_own_iterations; /* iterations are reported by the programs: a run is one process per side */
	bool has_steps;          /* these are steps of recorded programs: all of one side's, then all of the other's */
	bool has_aa;             /* do step 4, if a tenth of the budget is enough */
	size_t warmup;           /* turns that do not count, before all others; 0: one, or as many as a run needs */

	/* To resume a comparison: its schedule and existing runs (copied by reference). */
	struct duet_schedule schedule;
	const struct duet_run *done;
	size_t done_count;
	int64_t spent_ns;
	bool is_over;    /* no further run is made: judge these */
	bool is_decided; /* an interim analysis after the last run was conclusive: it is not the final one */

	/*
	 * Called before a pilot that would run two copies of the programs at once: why they must not, or NULL if they
	 * may. NULL: they may. The text must live as long as the result.
	 */
	const char *(*why_not_at_once)(void *arg);
	/*
	 * Called with the schedule (the result so far: schedule, pilot, self) and with each run that counts, before
	 * the next starts; an error ends the comparison.
	 */
	int (*on_schedule)(void *arg, const struct duet_result *so_far, struct sonde_err *err);
	int (*on_run)(void *arg, const struct duet_run *run, struct sonde_err *err);
	/* Called before each run: for a progress line. All three may be NULL. */
	void (*on_start)(void *arg, const char *what, size_t done, size_t of);
	void *arg;
};

enum duet_stop {
	DUET_DECIDED,     /* an interim analysis was conclusive */
	DUET_BUDGET_OVER, /* the next run would have exceeded the budget */
	DUET_RUNS_OVER,   /* all planned runs are done */
	DUET_INTERRUPTED,
	DUET_FAILED, /* a side or the runner failed; the result has the runs before it */
};

/* Result of the pilot for one design. */
struct duet_choice {
	bool is_tried;
	size_t runs;
	double variance;    /* of the runs' log-ratios, robust */
	double run_seconds; /* seconds per run */
	double cost;        /* variance * run_seconds: less is better */
};

/* A against itself. */
struct duet_self_check {
	size_t runs;                 /* 0: not done */
	struct stats_interval ratio; /* at level 0.99 */
	bool is_biased;              /* the interval excludes 1 */
};

/*
 * Carry-over: does the time of an execution depend on whether A or B ran before it? Estimated from the order of the
 * executions in rmit, where either may precede either. Two rank-sum tests, together at level DUET_CARRY_LEVEL: do
 * executions after B differ from those after A, and do executions after their own side differ from those after the
 * other. The order is random, so that drift and outliers do not cause false alarms. If the last analysis has too few
 * executions for that level, the tests are made at DUET_CARRY_LEVEL_FEW: five pairs have no power even there.
 */
struct duet_carry_over {
	bool is_checked;  /* there were enough executions after each side */
	bool is_found;    /* p is small, and the difference is larger than the margin */
	bool is_blocking; /* it is found, and executions after their own side do not have the same verdict */
	double p;         /* of "no carry-over"; NaN if not checked */
	double medians[DUET_SIDES][DUET_SIDES]; /* of the metric: of a side, after a side; NaN: unknown */
};

#define DUET_CARRY_LEVEL 0.01
#define DUET_CARRY_LEVEL_FEW 0.05

struct duet_result {
	struct duet_schedule schedule;
	bool is_design_piloted;
	struct duet_choice choices[DUET_DESIGNS];
	const char *why_in_turn; /* auto: why no design was tried that runs the programs at once; NULL: see above */
	struct duet_self_check self;
	struct stats_effect effect; /* estimate is NaN without runs */
	struct stats_interval cpu;  /* the ratio of CPU time, if wall is compared; estimate NaN if unknown */
	enum stats_verdict verdict;
	struct duet_carry_over carry; /* is_blocking: the verdict is withheld, "inconclusive" */
	enum duet_stop stop;
	struct duet_run *runs; /* runs that count */
	size_t run_count;
	struct duet_pairs pairs; /* of these runs */
	size_t looks;
	double seconds, run_seconds; /* of everything; mean per run */
	double detectable;           /* smallest change detected with power 0.8, as a ratio above 1; NaN if unknown */
	size_t needed_runs;          /* if inconclusive: runs that would decide with power 0.8; 0 if unknown */
	double needed_seconds;
	/* private */
	struct arena arena;
	size_t capacity;
};

/* Returns 0, also if interrupted. On failure the result still has what was measured before. Release it in any case. */
int duet_compare(const struct duet_setup *setup, const struct duet_runner *runner, struct duet_result *out,
		struct sonde_err *err);
void duet_result_release(struct duet_result *r);

/*
 * Judges existing runs with a fixed number of them: result files, recorded runs. The result takes ownership of the
 * runs and their array, both malloc'ed.
 */
int duet_judge(const struct duet_setup *setup, struct duet_run *runs, size_t count, struct duet_result *out,
		struct sonde_err *err);

#endif
