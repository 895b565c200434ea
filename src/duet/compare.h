/*
 * compare: run two programs until it is certain which is faster, or the budget ends.
 *
 * 1. One turn to warm caches, which also tells how long a turn takes.
 * 2. With `is_auto` a pilot: A against itself in every design that qualifies; the one with the least variance per
 *    second wins. Where that would take more than a fifth of the budget: rmit.
 * 3. How many turns a run has, one of whole commands, else so that the budget holds some 40 runs; and the largest
 *    number of runs.
 * 4. A against itself in the chosen design (unless the pilot did): does it find a difference where there is none?
 * 5. Runs, with looks at planned numbers of them (stats/sequential.h), until a look is conclusive.
 *
 * Nothing here reads a clock or starts anything: the runner does.
 */
#ifndef SONDE_DUET_COMPARE_H
#define SONDE_DUET_COMPARE_H

#include "duet/pairs.h"
#include "duet/runner.h"
#include "stats/effect.h"
#include "stats/verdict.h"

/* What is settled before the first run that counts. */
struct duet_schedule {
	enum duet_design design;
	size_t turns;    /* in a run */
	size_t runs_max; /* the looks are planned for so many */
	bool has_signs;  /* A against itself was near or far off: judge by signs (stats/sign.h) instead of ranks */
	bool is_settled;
};

struct duet_result;

struct duet_setup {
	enum duet_design design;
	bool is_auto;                /* the pilot picks the design */
	struct duet_pairing pairing; /* metric, direction, warm-up */
	double margin;               /* the change that matters: 1.01 is 1 % */
	double level;
	int interval;      /* of duet_interval_names; 0: by the number of runs and what A against itself was like */
	int64_t budget_ns; /* 0: the runs exist already, and there will be no more */
	uint64_t seed;
	size_t turns;            /* of a run; 0: by the budget */
	size_t runs_max;         /* 0: by the budget */
	bool is_pinned;          /* sides that run at once have CPUs of their own */
	bool has_priority;       /* the programs run ahead of others */
	bool has_own_iterations; /* they come from inside the programs: a run is one process a side */
	bool has_aa;             /* step 4, if a tenth of the budget is enough for it */

	/* To go on with what was begun: what was settled, and the runs there are (copied by reference). */
	struct duet_schedule schedule;
	const struct duet_run *done;
	size_t done_count;
	int64_t spent_ns;
	bool is_over;    /* and no further run will be made: judge these */
	bool is_decided; /* by a look on the way, behind the last of them: that is not the look at the end */

	/*
	 * Told what was settled (the result so far: schedule, pilot, self), and each run that counts, before the next
	 * begins; an error ends the comparison.
	 */
	int (*on_schedule)(void *arg, const struct duet_result *so_far, struct sonde_err *err);
	int (*on_run)(void *arg, const struct duet_run *run, struct sonde_err *err);
	/* Told before each run: for a progress line. NULL is fine for all three. */
	void (*on_start)(void *arg, const char *what, size_t done, size_t of);
	void *arg;
};

enum duet_stop {
	DUET_DECIDED,     /* a look was conclusive */
	DUET_BUDGET_OVER, /* the next run would not have fitted */
	DUET_RUNS_OVER,   /* all planned runs are done */
	DUET_INTERRUPTED,
	DUET_FAILED, /* a side or the runner failed; what was measured before is in the result */
};

/* A design in the pilot. */
struct duet_choice {
	bool is_tried;
	size_t runs;
	double variance;    /* of the runs' log-ratios, robust */
	double run_seconds; /* each took */
	double cost;        /* variance * run_seconds: the less, the better */
};

/* A against itself. */
struct duet_self_check {
	size_t runs;                 /* 0: not done */
	struct stats_interval ratio; /* of level 0.99 */
	bool is_biased;              /* and it excludes 1 */
};

struct duet_result {
	struct duet_schedule schedule;
	bool is_design_piloted;
	struct duet_choice choices[DUET_DESIGNS];
	struct duet_self_check self;
	struct stats_effect effect; /* estimate NaN while there are no runs */
	struct stats_interval cpu; /* beside wall: the ratio of processor time in these runs; estimate NaN: not known */
	enum stats_verdict verdict;
	enum duet_stop stop;
	struct duet_run *runs; /* those that count */
	size_t run_count;
	struct duet_pairs pairs; /* of these runs */
	size_t looks;
	double seconds, run_seconds; /* of everything; of a run, on average */
	double detectable;           /* the smallest change these runs find in 8 of 10 cases, as a ratio above 1; NaN */
	size_t needed_runs;          /* inconclusive: so many would decide in 8 of 10 cases; 0: not to be told */
	double needed_seconds;
	/* private */
	struct arena arena;
	size_t capacity;
};

/*
 * 0, also when it was interrupted. Else what was measured before is in the result all the same. Release it in
 * any case.
 */
int duet_compare(const struct duet_setup *setup, const struct duet_runner *runner, struct duet_result *out,
		struct sonde_err *err);
void duet_result_release(struct duet_result *r);

/*
 * The verdict over runs that exist already, with a fixed number of them: result files, recorded runs. The
 * result takes the runs; they and their array are malloc'ed.
 */
int duet_judge(const struct duet_setup *setup, struct duet_run *runs, size_t count, struct duet_result *out,
		struct sonde_err *err);

#endif
