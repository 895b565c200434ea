/*
 * launch: starts a command as if it were started directly, and returns its wait status.
 *
 * The child keeps our stdin, stdout, stderr, terminal, process group, directory, limits and signal dispositions as
 * they were when `launch_prepare` was called. It gets the environment changes of the spec and no other changes.
 * launch_start fails if the command cannot be executed.
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
	const char *const *env; /* "NAME=value" to set, NULL-terminated; NULL: none */
	/* Called when the process exists, before it executes the command; may be NULL. */
	void (*ready)(void *arg, pid_t pid);
	void (*meanwhile)(void *arg);      /* as in job.h */
	void (*met)(void *arg, pid_t pid); /* as in job.h */
	void *arg;
	const struct job_isolation *place; /* isolation; NULL: none */
	bool is_kept;                      /* launch_end can kill the whole tree; implied by an isolation and by: */
	bool is_bound; /* the tree is killed when sonde dies, even by SIGKILL; otherwise it continues */
	const struct sigaction *file_limit; /* of SIGXFSZ in the command; NULL: as it is now */
};

struct launch {
	pid_t pid;
	int pidfd;
	int signalfd;        /* signals sent to us while it runs */
	struct rusage usage; /* of the command and the children it waited for; valid after the wait */
	/* private */
	sigset_t old_mask;
	struct sigaction old_pipe, old_child, old_file_limit;
	struct job *job; /* if it has an isolation or is kept */
	int64_t oom_before;
};

/* Can the command be found and executed? Fails like launch_start, without starting it. */
int launch_check(const char *program, struct sonde_err *err);
/* 0; -ENOENT: command not found; -EACCES etc.: found but not executable; other: our own failure. */
int launch_start(struct launch *l, const struct launch_spec *spec, struct sonde_err *err);
/*
 * Reads signalfd: forwards signals that processes sent to us; the command already has those from the terminal. If
 * the command stops itself for job control, we stop too.
 */
void launch_forward_signals(struct launch *l);
/* Waits for the exit of the command; *status is its wait status. */
int launch_wait(struct launch *l, int *status, struct sonde_err *err);
/* See job_poll; call it while the command runs. */
void launch_poll(struct launch *l);
/* Resource usage of the command and the children it waited for; false if unknown. After launch_wait. */
bool launch_usage(const struct launch *l, struct rusage *usage);
/*
 * Number of OOM kills in its cgroup since its start, including other processes there; -1 if unknown. For a container
 * with a memory limit: 1 if there were any.
 */
int64_t launch_oom_kills(const struct launch *l);
/* For a kept command: signal or kill the whole tree. */
int launch_signal_tree(struct launch *l, int signal, struct sonde_err *err);
int launch_end(struct launch *l, const struct job_ladder *ladder, struct sonde_err *err);
/* Its pid in its own pid namespace; differs with an isolation. */
pid_t launch_inner_pid(const struct launch *l);
/* Restores signals. Running processes continue, unless the command is isolated or bound. */
void launch_release(struct launch *l);
/* Exit code (126 or 127) if this launch_start error is the command's failure; 0 if it is our own. */
int launch_exit_code(int rc);
/* Sets the error for a `program` that could not be executed. Returns launch_start's code. */
int launch_cannot_execute(const char *program, int errnum, struct sonde_err *err);
/* Returns `status` to our own parent exactly: exits, or dies by the same signal without another core dump. */
void launch_mirror(int status) __attribute__((noreturn));

#endif
