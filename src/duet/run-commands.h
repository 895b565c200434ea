/*
 * run-commands: the runner of whole commands: an iteration is one execution.
 *
 * Each side's command is executed for every iteration, with empty standard input, discarded output, and stderr kept
 * in case it fails. A side that fails ends the run, unless is_lenient.
 */
#ifndef SONDE_DUET_RUN_COMMANDS_H
#define SONDE_DUET_RUN_COMMANDS_H

#include "duet/runner.h"
#include "launch/job.h"

#include <sched.h>

struct duet_command {
	char *const *argv;
	const char *const *env; /* "NAME=value" in addition to ours, NULL-terminated; NULL: none */
	const char *cwd;        /* NULL: inherited */
	const char *root;       /* directory of files that each side has a copy of (a worktree); NULL: none */
};

struct duet_exec {
	struct duet_command commands[DUET_SIDES];
	const struct job_isolation *place; /* NULL: a plain process */
	bool is_pinned;                    /* sides that run at once have these CPUs, swapped as planned */
	cpu_set_t cpus[DUET_SIDES];
	bool has_priority;  /* the programs run at a higher scheduling priority (launch/scheduling.h) */
	int64_t timeout_ns; /* of one execution; 0: none */
	int interrupt_fd;   /* readable: the user requests to stop; -1: none */
	bool is_lenient;    /* a command that fails counts too */
	bool has_output;    /* commands write to our stderr */
	/* private */
	int complaints[DUET_SIDES]; /* memory files */
};

#define DUET_EXEC_INIT { .interrupt_fd = -1, .complaints = { -1, -1 } }

/* Opens its files. Release it in any case. */
int duet_exec_open(struct duet_exec *e, struct sonde_err *err);
void duet_exec_release(struct duet_exec *e);
struct duet_runner duet_exec_runner(struct duet_exec *e);

/* Splits the CPUs we may use into two halves, of equal size if possible. False if there is only one. */
bool duet_split_cpus(cpu_set_t cpus[DUET_SIDES]);
/* Number of CPUs we may use. */
size_t duet_cpu_count(void);

/* For other runners. */

/* Starts a side of the task; `seat` is its position in a pair, which selects the CPUs. */
int duet_exec_start(struct duet_exec *e, enum duet_side side, bool is_aa, const cpu_set_t *cpus, const int *inherit,
		size_t inherit_count, const char *const *env, struct job **job, struct sonde_err *err);
/* Checks a job that has ended: the error describes its failure. */
int duet_exec_check(struct duet_exec *e, enum duet_side side, const struct job *job, struct sonde_err *err);
const cpu_set_t *duet_exec_cpus(const struct duet_exec *e, enum duet_side side, const struct duet_turn *turn);
/* The metrics of a job that has ended, as one iteration. */
struct duet_iteration duet_exec_iteration(const struct job *job);
/* Milliseconds until then, for poll: rounded up, -1 for no limit. */
int duet_poll_ms(int64_t until_ns);

#endif
