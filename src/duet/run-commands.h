/*
 * run-commands: the runner of whole commands: an iteration is one execution.
 *
 * Each side's command is executed for every iteration, with empty standard input, discarded output, and stderr kept
 * in case it fails. A side that fails ends the run, unless is_lenient. Hooks are commands for a shell around each
 * execution, outside the measured time; one that fails ends the run.
 */
#ifndef SONDE_DUET_RUN_COMMANDS_H
#define SONDE_DUET_RUN_COMMANDS_H

#include "duet/duet.h"
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
	const char *input;  /* file that is the standard input of each execution; NULL: empty */
	const char *prepare[DUET_SIDES], *conclude[DUET_SIDES]; /* hooks before and after each execution; NULL: none */
	char *const *shell;                                     /* words of the shell for hooks */
	/* private */
	int complaints[DUET_SIDES]; /* memory files */
};

#define DUET_EXEC_INIT { .interrupt_fd = -1, .complaints = { -1, -1 } }

/* Opens its files. Release it in any case. */
int duet_exec_open(struct duet_exec *e, struct sonde_err *err);
void duet_exec_release(struct duet_exec *e);
struct duet_runner duet_exec_runner(struct duet_exec *e);
/* Runs a hook of a side and waits for it; `option` names it in messages. A NULL command is ignored. */
int duet_exec_hook(struct duet_exec *e, enum duet_side side, const char *option, const char *command,
		struct sonde_err *err);

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
/* Waits until a job has ended. -EINTR: interrupt_fd became readable; -ETIMEDOUT. */
int duet_wait_job(struct job *job, int interrupt_fd, int64_t until_ns, struct sonde_err *err);

/*
 * The runner for iterations inside programs, which report them on an inherited descriptor (see sonde/duet.h).
 *
 * A run is one process per side. The runner is the barrier: a side that requests to start is released as the design
 * requires, one at a time (seq, rmit), both together (sync) or immediately (async). When a side ends or dies, the
 * other gets a stop message; a side that keeps the other waiting longer than the timeout ends the run.
 */

#define DUET_LOOP_FD "SONDE_DUET_FD"

/* The duet_exec has the commands, CPUs, interruption and timeout. */
struct duet_runner duet_loop_runner(struct duet_exec *e);

/* Parses a line from a program; for tests. */
enum duet_word { DUET_WORD_WRONG, DUET_WORD_BEGIN, DUET_WORD_END };
/* now_ns: time of receipt, for times that the line omits; granted_ns: when the side was released. */
enum duet_word duet_loop_line(const char *line, int64_t granted_ns, int64_t now_ns, struct duet_iteration *it);

#endif
