/*
 * runner: executes a run. compare.h decides what to run and evaluates it; a runner knows commands, containers or, in
 * tests, only a simulated clock.
 */
#ifndef SONDE_DUET_RUNNER_H
#define SONDE_DUET_RUNNER_H

#include "base/err.h"
#include "duet/duet.h"
#include "duet/schedule.h"

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
