/*
 * drive: run a training program under a coach, to its end.
 *
 * The program finds SONDE_JOB_FD (a socket, online-protocol.h), SONDE_JOB_CONFIG ("INDEX JSON":
 * what it starts with), SONDE_JOB_DIR (its checkpoints; kept over restarts) and
 * SONDE_JOB_ID. A change of parameters that are live is told to it; any other ends it,
 * in good order, and starts it again. Under a fleet, where SONDE_JOB_FD leads to an agent,
 * reports and decisions are passed on, and what the agent says is obeyed.
 */
#ifndef SONDE_TUNE_ONLINE_RUN_H
#define SONDE_TUNE_ONLINE_RUN_H

#include "tune/online-journal.h"

#include <signal.h>

struct train_drive {
	const struct train_plan *plan;
	struct online_controller *controller;
	struct train_record *record;
	char *const *argv;
	const char *dir;      /* of the checkpoints; absolute, made */
	const char *id;       /* of the job */
	bool is_output_aside; /* what the program prints goes to our stderr: stdout is ours */
	const volatile sig_atomic_t *is_interrupted;
	/* Something to show: a configuration was taken, or became known. NULL: nobody looks. */
	void (*show)(void *arg, const struct online_controller *c);
	void *arg;
};

struct train_outcome {
	const char *why; /* static words: "target", "ended", "stopped", "interrupted", "timeout", "failed" */
	int exit_code;   /* of the program, when it ended by itself; else 0 */
	double runtime_s;
	uint64_t bad_lines;
};

/* 0 however the job ended; -ENOENT, -EACCES: the program cannot be executed; others: our failure. */
int train_drive(struct train_drive *d, struct train_outcome *outcome, struct sonde_err *err);

#endif
