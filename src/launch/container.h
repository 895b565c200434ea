/*
 * container: one that stays up while commands are executed in it.
 *
 * For a command that is a container's whole life use a job with JOB_CONTAINER.
 * Here the container runs something that idles, each command is a job of its own,
 * files are copied out, and the end is at once: nothing waits for process 1 to be
 * asked politely. When we die, even by SIGKILL, the container's processes die with
 * us; the engine's record of it is left, named sonde-PID-N, and the next container
 * that is started removes such records.
 */
#ifndef SONDE_LAUNCH_CONTAINER_H
#define SONDE_LAUNCH_CONTAINER_H

#include "launch/job.h"

struct container; /* a handle */

/*
 * `place` is a JOB_CONTAINER. `idle` is what it runs as process 1, NULL: "tail -f /dev/null", which nearly every
 * image has. env holds "NAME=value" for all that is executed in it, NULL: none. Returns when commands can be executed,
 * or with -EINTR as soon as interrupt_fd is readable (-1: there is none).
 */
int container_start(struct container **out, const struct job_isolation *place, char *const *idle,
		const char *const *env, int interrupt_fd, struct sonde_err *err);
const char *container_name(const struct container *c);
pid_t container_pid(const struct container *c); /* of process 1 as the host sees it; 0: not known */
/*
 * A command in it. Of the spec argv, env, cwd and fds count; place, cpus and inherit must not be given. A command that
 * cannot be executed ends with 126 or 127, as the engine says it; signals show as 128 + N. job_end ends the command
 * and what descends from it; what it daemonised within lives until container_free.
 */
int container_exec(struct job **out, struct container *c, const struct job_spec *spec, struct sonde_err *err);
/* Copy a file or directory out of it, to a path here that does not exist yet. */
int container_copy_out(struct container *c, const char *from, const char *to, struct sonde_err *err);
int container_set_limits(struct container *c, const struct job_limits *limits, struct sonde_err *err);
/* Stopped and removed, at once. NULL is fine. */
int container_stop(struct container *c, struct sonde_err *err);
void container_free(struct container *c);

#endif
