/*
 * exec: the runner of whole commands: an iteration is one execution.
 *
 * Each side is a command that is executed anew for every iteration, with nothing on
 * its standard input, its output thrown away and its complaints kept for the case
 * that it fails. A side that fails ends the run, unless is_lenient.
 */
#ifndef SONDE_DUET_RUN_COMMANDS_H
#define SONDE_DUET_RUN_COMMANDS_H

#include "duet/runner.h"
#include "launch/job.h"

#include <sched.h>

struct duet_command {
	char *const *argv;
	const char *const *env; /* "NAME=value" on top of ours, NULL-terminated; NULL: none */
	const char *cwd;        /* NULL: ours */
	const char *root;       /* of files that both sides have, each its own (a worktree); NULL: none */
};

struct duet_exec {
	struct duet_command commands[DUET_SIDES];
	const struct job_isolation *place; /* NULL: a plain process */
	bool is_pinned;                    /* sides that run at once have these CPUs, exchanged as the plan says */
	cpu_set_t cpus[DUET_SIDES];
	bool has_priority;  /* the programs run ahead of others (launch/priority.h) */
	int64_t timeout_ns; /* of one execution; 0: none */
	int interrupt_fd;   /* readable: the user wants to stop; -1: none */
	bool is_lenient;    /* a command that fails counts all the same */
	bool has_output;    /* commands write to our stderr */
	/* private */
	int complaints[DUET_SIDES]; /* memory files */
};

#define DUET_EXEC_INIT { .interrupt_fd = -1, .complaints = { -1, -1 } }

/* Open what it needs. Release in any case. */
int duet_exec_open(struct duet_exec *e, struct sonde_err *err);
void duet_exec_release(struct duet_exec *e);
struct duet_runner duet_exec_runner(struct duet_exec *e);

/* The CPUs we may use, cut into two halves that are alike where they can be. False: there is one only. */
bool duet_split_cpus(cpu_set_t cpus[DUET_SIDES]);
/* How many we may use. */
size_t duet_cpu_count(void);

/* For other runners. */

/* Start a side of the task; its place in a pair is `seat` (it decides the CPUs). */
int duet_exec_start(struct duet_exec *e, enum duet_side side, bool is_aa, const cpu_set_t *cpus, const int *inherit,
		size_t inherit_count, const char *const *env, struct job **job, struct sonde_err *err);
/* What became of a job that has ended: an error says how it failed. */
int duet_exec_check(struct duet_exec *e, enum duet_side side, const struct job *job, struct sonde_err *err);
const cpu_set_t *duet_exec_cpus(const struct duet_exec *e, enum duet_side side, const struct duet_turn *turn);
/* The metrics of a job that has ended, as one iteration. */
struct duet_iteration duet_exec_iteration(const struct job *job);
/* So many ms until then, for poll: rounded up, -1 for ever. */
int duet_poll_ms(int64_t until_ns);

#endif
