/*
 * job: a command tree in the background with given streams, isolation and limits, and a guaranteed end.
 *
 * launch.h runs the user's program in the foreground as if it were started directly. A job belongs to sonde: it has
 * a separate process group, and when job_end or job_free returns, no process of its tree is left, whatever it
 * forked, ignored or daemonised. Several jobs may run at once; none changes our signal handling.
 *
 * The isolation selects where the tree runs: as a plain process, in a fresh cgroup leaf (limits), in a sandbox
 * (namespaces and an overlay over a root), or in a podman or docker container. An isolation that is unavailable
 * fails with the reason and a hint how to enable it. There are no silent fallbacks.
 */
#ifndef SONDE_LAUNCH_JOB_H
#define SONDE_LAUNCH_JOB_H

#include "base/err.h"

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

enum job_isolation_kind {
	JOB_PROCESS,   /* no isolation; killed by process group, subreaper and descent */
	JOB_CGROUP,    /* a fresh leaf, v1 or v2; enforces limits; killed as a whole */
	JOB_SANDBOX,   /* separate mount, pid, uts and ipc namespaces, overlay over `root`; a cgroup if available */
	JOB_CONTAINER, /* an image, run by `engine` */
};

struct job_limits {
	double cpus;           /* CPU limit, in cores (0.5 = half a core); 0: no limit */
	unsigned cpu_weight;   /* 1..10000, default 100; 0: unchanged */
	uint64_t memory_bytes; /* 0: no limit */
	uint64_t pids;         /* processes and threads; 0: no limit */
	bool is_watched;       /* enable all available controllers, for reading and setting */
};

struct job_mount {
	const char *source, *target;
	bool is_read_only;
	const char *beneath; /* the source, resolved at the start, must be below this directory; NULL: anywhere */
};

struct job_isolation {
	enum job_isolation_kind kind;
	struct job_limits limits;
	const char *root;               /* SANDBOX: lower directory, NULL: "/" */
	const char *image;              /* CONTAINER */
	const char *engine;             /* CONTAINER: "podman", "docker" or a path; NULL: any that is installed */
	const char *const *engine_args; /* CONTAINER: additional arguments of `run`, NULL-terminated; NULL: none */
	bool is_kept;                   /* CONTAINER: stopped at its end, not removed; "sonde-kept-PID-N" */
	const struct job_mount *mounts; /* SANDBOX and CONTAINER */
	size_t mount_count;
	const char *hold;     /* CONTAINER: path of sonde-hold, for `met`; NULL: none */
	bool has_own_network; /* SANDBOX: only a private loopback */
};

#define JOB_FD_NULL (-1) /* /dev/null */
#define JOB_FD_OURS (-2) /* inherited from us */

struct job_spec {
	char *const *argv;      /* argv[0] is searched in PATH */
	const char *const *env; /* changes: "NAME=value" sets, "NAME" removes; NULL: none */
	const char *cwd;        /* NULL: unchanged */
	int fds[3];             /* stdin, stdout, stderr: a descriptor, JOB_FD_NULL or JOB_FD_OURS */
	const int *inherit;     /* descriptors that it inherits under the same numbers */
	size_t inherit_count;
	const cpu_set_t *cpus;             /* CPU affinity; NULL: unchanged */
	bool has_priority;                 /* raised scheduling priority, as far as permitted (scheduling.h) */
	const struct job_isolation *place; /* NULL: JOB_PROCESS without limits */
	/* For launch.h: in our process group, with all our descriptors; outlives us unless it is bound. */
	bool is_foreground, is_bound;
	/* When sonde dies the command gets SIGTERM and this grace period before SIGKILL; 0: killed at once. */
	int64_t mercy_ns;
	void (*restore)(const void *arg); /* in the child: restores the signal handling; NULL: defaults */
	const void *restore_arg;
	/* Called when the process exists, before it executes the command; may be NULL. */
	void (*ready)(void *arg, pid_t pid);
	/* Called repeatedly while an engine starts a container; may be NULL. */
	void (*meanwhile)(void *arg);
	/* Above 0: when it becomes readable, that wait ends and job_start fails with -EINTR. */
	int interrupt_fd;
	/*
	 * Called when the first process of a container that is not our descendant exists, before it executes the
	 * command; may be NULL.
	 */
	void (*met)(void *arg, pid_t pid);
	void *ready_arg; /* of these callbacks */
};

#define JOB_SPEC_INIT { .fds = { JOB_FD_NULL, JOB_FD_OURS, JOB_FD_OURS } }

/* Resource usage of the whole tree. Unknown values are -1, never 0. */
struct job_usage {
	int64_t wall_ns;
	int64_t user_ns, system_ns; /* exact: of every process that was waited for, or of the cgroup */
	int64_t max_rss_bytes;      /* PROCESS: of the largest process; CGROUP: of the cgroup if it reports it */
	int64_t oom_kills;          /* OOM kills; known in a cgroup only */
};

/* Escalation: each signal goes to the whole tree and is followed by a wait. SIGKILL always comes last. */
struct job_ladder {
	int64_t interrupt_ns; /* SIGINT, then wait this long; 0: skip */
	int64_t terminate_ns; /* SIGTERM, then wait this long; 0: skip */
};

#define JOB_LADDER_USUAL { .interrupt_ns = 2000000000, .terminate_ns = 3000000000 }
#define JOB_LADDER_KILL { 0 }

struct job; /* opaque */

/* Is this isolation available? 0, or -errno with the reason and a hint how to enable it. */
int job_isolation_check(const struct job_isolation *place, struct sonde_err *err);

/* Like launch_start: -ENOENT and -EACCES are the command's failures, see launch_exit_code. */
int job_start(struct job **out, const struct job_spec *spec, struct sonde_err *err);
pid_t job_pid(const struct job *j);        /* host pid of the command; 0 if unknown (docker) */
int job_pidfd(const struct job *j);        /* becomes readable when the command exits, for poll */
int64_t job_start_ns(const struct job *j); /* CLOCK_MONOTONIC at exec */

/* Waits for the command until a CLOCK_MONOTONIC time; INT64_MAX: forever. 0 if it has exited, -ETIMEDOUT if not. */
int job_wait(struct job *j, int64_t until_ns, struct sonde_err *err);
bool job_has_ended(const struct job *j);
int job_status(const struct job *j); /* wait status; valid after job_wait returned 0 or after job_end */
void job_usage(const struct job *j, struct job_usage *usage);
/*
 * Resource usage of every process that was waited for; false if unknown (before its end). For a container, time and
 * memory of its cgroup as of the last job_poll; negative values are unknown.
 */
bool job_rusage(const struct job *j, struct rusage *usage);
/*
 * Call at intervals while it runs: reads what is unavailable after its end. Rate-limited, so that frequent calls are
 * cheap.
 */
void job_poll(struct job *j);

bool job_is_client(const struct job *j); /* the process waited for is a container engine's client */

/* Sends a signal to every process of the tree. */
int job_signal(struct job *j, int signal, struct sonde_err *err);
/*
 * Kills the whole tree and returns when no process is left. Also after the command has exited: kills its remaining
 * descendants.
 */
int job_end(struct job *j, const struct job_ladder *ladder, struct sonde_err *err);
/*
 * The tree is killed at this CLOCK_MONOTONIC time unless a later one is set before; INT64_MAX: never. The supervisor
 * does it, so it happens even if we are stopped or delayed. Not for processes of a container: they belong to the
 * engine.
 */
int job_set_deadline(struct job *j, int64_t deadline_ns, struct sonde_err *err);
/* Did it end because its deadline had passed? */
bool job_is_overdue(const struct job *j);
/* Pid of the command in its own pid namespace; differs in a sandbox or container. */
pid_t job_inner_pid(const struct job *j);
/*
 * Releases a foreground job without killing it: running processes continue. A job that is bound, or has an isolation
 * that must be cleaned up, is killed.
 */
void job_abandon(struct job *j);
void job_free(struct job *j); /* kills the remaining processes; j may be NULL */

#endif
