/*
 * container: a container that stays up while commands are executed in it.
 *
 * For a container that runs one command, use a job with JOB_CONTAINER. Here the container runs an idle process and
 * each command is a separate job. Files can be copied out. The container is stopped at once, without a grace period
 * for process 1. When sonde dies, even by SIGKILL, the container's processes are killed too; the engine's record,
 * named sonde-PID-N, remains until the next container is started.
 */
#ifndef SONDE_LAUNCH_CONTAINER_H
#define SONDE_LAUNCH_CONTAINER_H

#include "launch/job.h"

struct container; /* opaque */

/*
 * `place` is a JOB_CONTAINER. `idle` is the command of process 1; NULL: "tail -f /dev/null", which nearly every
 * image has. env holds "NAME=value" for all commands in it; NULL: none. Returns when commands can be executed, or
 * with -EINTR as soon as interrupt_fd is readable (-1: none).
 */
int container_start(struct container **out, const struct job_isolation *place, char *const *idle,
		const char *const *env, int interrupt_fd, struct sonde_err *err);
pid_t container_pid(const struct container *c); /* host pid of process 1; 0 if unknown */
/*
 * Runs a command in the container. Only argv, env, cwd and fds of the spec are used; place, cpus and inherit must be
 * unset. A command that cannot be executed exits with 126 or 127, as reported by the engine; a signal N is reported
 * as 128 + N. job_end kills the command and its descendants; daemons it has started live until container_free.
 */
int container_exec(struct job **out, struct container *c, const struct job_spec *spec, struct sonde_err *err);
/* Copies a file or directory out of the container. `to` must not exist. */
int container_copy_out(struct container *c, const char *from, const char *to, struct sonde_err *err);
/* Stops and removes the container at once. c may be NULL. */
int container_stop(struct container *c, struct sonde_err *err);
void container_free(struct container *c);

#endif
