/*
 * runner: what executes a run. compare.h decides what is to be run and what follows from it; a
 * runner knows commands, containers or, in tests, nothing but a clock of its own.
 */
#ifndef SONDE_DUET_RUNNER_H
#define SONDE_DUET_RUNNER_H

#include "base/err.h"
#include "duet/duet.h"
#include "duet/schedule.h"

struct duet_task {
	enum duet_design design;
	const struct duet_turn *turns; /* async: turn_count iterations of each side at least, placed as turns[0] */
	size_t turn_count;
	bool is_aa; /* A takes both sides */
};

struct duet_runner {
	void *self;
	int64_t (*now_ns)(void *self);
	/*
	 * Execute the task and fill the sides, start and end of a zeroed run, which the caller releases. Whatever is
	 * returned, nothing that was started is still running. -EINTR: the user wants to stop. Anything else is
	 * the failure of a side (-ECHILD; it took too long: -ETIMEDOUT) or ours.
	 */
	int (*run)(void *self, const struct duet_task *task, struct duet_run *run, struct sonde_err *err);
};

#endif
