/* compare-private: shared by the parts of compare. */
#ifndef SONDE_DUET_COMPARE_PRIVATE_H
#define SONDE_DUET_COMPARE_PRIVATE_H

#include "duet/compare.h"

/* Iterations per process in a run if they come from inside the program: enough to see the warm-up. */
enum { DUET_OWN_ITERATIONS = 20 };

struct comparison {
	const struct duet_setup *setup;
	const struct duet_runner *runner;
	struct duet_result *out;
	struct sonde_err *err;
	int64_t begin_ns;
	double turn_ns;  /* of the current design */
	double quick_ns; /* the quickest turn so far: the plan has as many of these as fit the budget */
	struct stats_sequential sequence;
	bool is_last; /* this is the last analysis */
	enum stats_verdict
			pending; /* of the last interim analysis, which had too few executions to exclude carry-over */
};

/* Executes one run of the plan, after reporting it as "what: done of"; on failure there is nothing to release. */
int compare_run(struct comparison *c, struct duet_plan *plan, bool is_aa, struct duet_run *run, const char *what,
		size_t done, size_t of);
void compare_plan(const struct comparison *c, struct duet_plan *plan, enum duet_design design, size_t turns,
		uint64_t salt);
int64_t compare_left_ns(const struct comparison *c);
/* Warms up, chooses a design, checks A against itself, plans the runs; calls on_schedule. */
int compare_choose_design(struct comparison *c);
/* Sets carry, from the pairs and the verdict so far. 0 or -ENOMEM. */
int compare_carry_over(struct comparison *c);
/* Does the design allow to estimate carry-over? */
bool compare_has_carry_over(const struct comparison *c);

#endif
