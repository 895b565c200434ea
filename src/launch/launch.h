/*
 * launch: start a command as if nobody stood between, and learn how it ended.
 *
 * The child keeps our stdin, stdout, stderr, terminal, process group, directory,
 * limits and signal dispositions as they were when `launch_prepare` was called;
 * it gets the environment changes of the spec and nothing else. A command that
 * cannot be executed is reported by the start, not by an exit code.
 */
#ifndef SONDE_LAUNCH_LAUNCH_H
#define SONDE_LAUNCH_LAUNCH_H

#include "base/err.h"
#include "launch/job.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

struct launch_spec {
	char *const *argv;      /* argv[0] is searched in PATH */
	const char *const *env; /* "NAME=value" to set for it, NULL-terminated; NULL none */
	/* Called when the process exists and has not executed the command yet; NULL: nothing to do then. */
	void (*ready)(void *arg, pid_t pid);
	void (*meanwhile)(void *arg);      /* as job.h's */
	void (*met)(void *arg, pid_t pid); /* the same */
	void *arg;
	const struct job_isolation *place; /* where it lives; NULL: here */
	bool is_kept;                      /* launch_end can end its whole tree; a place implies it, and so does: */
	bool is_bound; /* all of it ends with us, even when we are killed; else what lives goes on */
};

struct launch {
	pid_t pid;
	int pidfd;
	int signalfd;        /* signals sent to us meanwhile */
	struct rusage usage; /* of the command and of those it waited for, once it was waited for */
	/* private */
	sigset_t old_mask;
	struct sigaction old_pipe, old_child;
	struct job *job; /* when it has a place or is kept */
	int64_t oom_before;
};

/* Would it be found and could it be executed? As launch_start, without doing it. */
int launch_check(const char *program, struct sonde_err *err);
/* 0; -ENOENT: no such command; -EACCES and the like: there, but cannot be executed; other: our own failure. */
int launch_start(struct launch *l, const struct launch_spec *spec, struct sonde_err *err);
/*
 * Read signalfd: what somebody sent to us goes on to the command; what the terminal
 * sent it has already. When the command stops for its job's sake, we stop too.
 */
void launch_forward_signals(struct launch *l);
/* Wait until it has ended; the status as waitpid tells it. */
int launch_wait(struct launch *l, int *status, struct sonde_err *err);
/* See job_poll; between the start and the end. */
void launch_poll(struct launch *l);
/* What it and those that it waited for have used; false when that cannot be told. After launch_wait. */
bool launch_usage(const struct launch *l, struct rusage *usage);
/*
 * How many processes the kernel has killed for want of memory since it was started, among it and all others of its
 * control group; -1: that cannot be told. Of a container with a limit: 1 if there were some.
 */
int64_t launch_oom_kills(const struct launch *l);
/* Of a kept one: a signal for the whole tree; the end of the whole tree. */
int launch_signal_tree(struct launch *l, int signal, struct sonde_err *err);
int launch_end(struct launch *l, const struct job_ladder *ladder, struct sonde_err *err);
/* Its number as it knows it itself: another one where it has a place. */
pid_t launch_inner_pid(const struct launch *l);
/* Signals as before. What still lives goes on, except in a place, which ends with the command, or if it is bound. */
void launch_release(struct launch *l);
/* Is this failure of launch_start the command's (exit 126 or 127), and which; 0 when it is our own. */
int launch_exit_code(int rc);
/* Say that `program` could not be executed; the rc is launch_start's. */
int launch_cannot_execute(const char *program, int errnum, struct sonde_err *err);
/* Return `status` to our own parent exactly: exit, or die of the same signal without a core of our own. */
void launch_mirror(int status) __attribute__((noreturn));

#endif
