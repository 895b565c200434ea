/*
 * spawn-command: starts a command that sonde itself needs: a tool (ssh, scontrol, nvidia-smi) or one of its own
 * programs.
 *
 * The user's programs are run by launch.h and job.h, which guarantee their end; here the caller has the pid and reaps
 * it. There is no shell. The command gets the given standard streams and every descriptor without close-on-exec.
 */
#ifndef SONDE_LAUNCH_SPAWN_COMMAND_H
#define SONDE_LAUNCH_SPAWN_COMMAND_H

#include "base/buf.h"
#include "base/err.h"
#include "launch/job.h"

#include <signal.h>

struct launch_command {
	char *const *argv;      /* argv[0] without a slash is searched in PATH */
	char *const *env;       /* NULL: ours */
	int fds[3];             /* a descriptor, JOB_FD_NULL or JOB_FD_OURS; applied in this order */
	const sigset_t *mask;   /* blocked signals; NULL: as ours */
	bool has_usual_signals; /* no signal is ignored */
	bool has_own_group;     /* signals of the terminal do not reach it */
	bool has_own_session;   /* nor does a hang-up */
	bool has_only_streams;  /* it inherits no other descriptor */
};

/* Starts it. 0, or -errno if it cannot be executed; then there is no process. */
int launch_spawn(const struct launch_command *c, pid_t *pid, struct sonde_err *err);
/* Waits for a child. Its wait status; -1 if it is not a child. */
int launch_reap(pid_t pid);
/* Starts it and waits. Its wait status, or -errno if it cannot be executed. */
int launch_run(const struct launch_command *c, struct sonde_err *err);
/*
 * Starts it with stdout, and stderr unless it is JOB_FD_OURS, in a pipe; appends up to 1 MiB of them to `out`. After
 * timeout_ms (negative: never) it is killed. 0; -errno if it cannot be executed; -ETIMEDOUT; -EIO if it failed.
 */
int launch_output(const struct launch_command *c, int timeout_ms, struct buf *out, struct sonde_err *err);

#endif
