/*
 * online-run: runs a training program under the online controller, to its end.
 *
 * The program gets SONDE_JOB_FD (a socket, online-journal.h), SONDE_JOB_CONFIG ("INDEX JSON": its
 * initial configuration), SONDE_JOB_DIR (its checkpoints; kept over restarts) and SONDE_JOB_ID. A
 * change of live parameters is sent to it; any other change asks it to exit and restarts it. In a
 * fleet, where SONDE_JOB_FD is a socket to the agent, reports and decisions are forwarded to the
 * agent, and its requests are followed.
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
	const char *dir;      /* of the checkpoints; absolute, created */
	const char *id;       /* of the job */
	bool is_output_aside; /* the program's stdout goes to our stderr: our stdout is reserved */
	const volatile sig_atomic_t *is_interrupted;
	/* Called when a configuration was applied or has a result; may be NULL. */
	void (*show)(void *arg, const struct online_controller *c);
	void *arg;
};

struct train_outcome {
	const char *why; /* static strings: "target", "ended", "stopped", "interrupted", "timeout", "failed" */
	int exit_code;   /* of the program if it exited by itself; else 0 */
	double runtime_s;
	uint64_t bad_lines;
};

/* 0 regardless of how the job ended; -ENOENT, -EACCES: the program cannot be executed; others: internal failure. */
int train_drive(struct train_drive *d, struct train_outcome *outcome, struct sonde_err *err);

#endif
