/*
 * job: a command tree in the background, with the streams, place and limits it is
 * given, and a firm end.
 *
 * Where launch.h runs the user's program in the foreground as if nobody stood
 * between, a job is ours: it has a process group of its own, and when job_end or
 * job_free returns nothing of its tree lives, whatever it forked, ignored or
 * daemonised. Several jobs may run at once; none changes our own signals.
 *
 * A place says where the tree lives: a plain process, a fresh leaf of a control
 * group (limits), a sandbox of our own (namespaces and an overlay over a root), or
 * a container of podman or docker. A place that cannot be had is refused with the
 * reason and what would enable it; nothing falls back silently.
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
	JOB_PROCESS,   /* no walls; ended by process group, subreaper and descent */
	JOB_CGROUP,    /* a leaf of its own, v1 or v2; limits hold; ended as a whole */
	JOB_SANDBOX,   /* own mount, pid, uts and ipc namespaces, overlay over `root`; a cgroup where one can be had */
	JOB_CONTAINER, /* an image, run by `engine` */
};

struct job_limits {
	double cpus;           /* CPUs' worth of time, 0.5 is half a CPU; 0: no limit */
	unsigned cpu_weight;   /* 1..10000, 100 is usual; 0: leave alone */
	uint64_t memory_bytes; /* 0: no limit */
	uint64_t pids;         /* processes and threads; 0: no limit */
	bool is_watched; /* it is also to tell, and be set, as much as it can: all controllers that are to be had */
};

struct job_mount {
	const char *source, *target;
	bool is_read_only;
	const char *beneath; /* the source is resolved at the start and may not lead outside of it; NULL: anywhere */
};

struct job_isolation {
	enum job_isolation_kind kind;
	struct job_limits limits;
	const char *root;               /* SANDBOX: lower directory, NULL: "/" */
	const char *image;              /* CONTAINER */
	const char *engine;             /* CONTAINER: "podman" or "docker", or a path; NULL: whichever is there */
	const char *const *engine_args; /* CONTAINER: further arguments of its `run`, NULL-terminated; NULL: none */
	bool is_kept;                   /* CONTAINER: stopped at its end, not removed; "sonde-kept-PID-N" */
	const struct job_mount *mounts; /* SANDBOX and CONTAINER */
	size_t mount_count;
	const char *hold;     /* CONTAINER: path of sonde-hold, for `met`; NULL: none */
	bool has_own_network; /* SANDBOX: loopback of its own only */
};

#define JOB_FD_NULL (-1) /* /dev/null */
#define JOB_FD_OURS (-2) /* what we have */

struct job_spec {
	char *const *argv;      /* argv[0] is searched in PATH */
	const char *const *env; /* changes to ours: "NAME=value", or "NAME" to take it out; NULL: none */
	const char *cwd;        /* NULL: ours */
	int fds[3];             /* stdin, stdout, stderr: a descriptor, JOB_FD_NULL or JOB_FD_OURS */
	const int *inherit;     /* descriptors that it keeps under the same numbers */
	size_t inherit_count;
	const cpu_set_t *cpus;             /* pinned there; NULL: not pinned */
	bool has_priority;                 /* ahead of other processes, as far as we may (priority.h) */
	const struct job_isolation *place; /* NULL: JOB_PROCESS without limits */
	/* For launch.h: in our process group, with all our descriptors; when we die it goes on, unless it is bound. */
	bool is_foreground, is_bound;
	/* When we die the command gets TERM, and so long to end what it has begun elsewhere; 0: killed at once. */
	int64_t mercy_ns;
	void (*restore)(const void *arg); /* in the child: signals as it shall find them; NULL: the usual ones */
	const void *restore_arg;
	/* Called when the process exists and has not executed the command yet; NULL: nothing to do then. */
	void (*ready)(void *arg, pid_t pid);
	/* Called again and again while an engine takes its time to start a container; NULL: nothing to do meanwhile. */
	void (*meanwhile)(void *arg);
	/* Above 0: readable when nobody wants to wait for that any longer, and job_start fails with -EINTR. */
	int interrupt_fd;
	/*
	 * Called when the first process of a container that does not descend from us has not executed the command yet;
	 * NULL: nothing to do then.
	 */
	void (*met)(void *arg, pid_t pid);
	void *ready_arg; /* of them */
};

#define JOB_SPEC_INIT { .fds = { JOB_FD_NULL, JOB_FD_OURS, JOB_FD_OURS } }

/* What the whole tree used. Unknown values are -1, never 0. */
struct job_usage {
	int64_t wall_ns;
	int64_t user_ns, system_ns; /* exact: of every process that was waited for, or of the cgroup */
	int64_t max_rss_bytes;      /* PROCESS: of the largest process; CGROUP: of the group where it can be told */
	int64_t oom_kills;          /* processes that were killed for want of memory; known in a control group only */
};

/* How to ask it to end: each signal to the whole tree, then that long until the next. KILL always comes last. */
struct job_ladder {
	int64_t interrupt_ns; /* SIGINT, then wait; 0: skip */
	int64_t terminate_ns; /* SIGTERM, then wait; 0: skip */
};

#define JOB_LADDER_USUAL { .interrupt_ns = 2000000000, .terminate_ns = 3000000000 }
#define JOB_LADDER_KILL { 0 }

struct job; /* a handle */

/* Can this place be had here? 0, or -errno with the reason and, as hint, what would enable it. */
int job_isolation_check(const struct job_isolation *place, struct sonde_err *err);

/* As launch_start: -ENOENT and -EACCES are the command's failures, see launch_exit_code. */
int job_start(struct job **out, const struct job_spec *spec, struct sonde_err *err);
pid_t job_pid(const struct job *j);          /* of the command as the host sees it; 0 when that is not known (docker) */
int job_pidfd(const struct job *j);          /* readable when the command has ended: for poll */
int64_t job_start_ns(const struct job *j);   /* CLOCK_MONOTONIC at exec */
const char *job_cgroup(const struct job *j); /* directory of its v2 or v1 cpu group; NULL when it has none */

/* Wait for the command until a CLOCK_MONOTONIC time, INT64_MAX for ever. 0: it has ended. -ETIMEDOUT: it has not. */
int job_wait(struct job *j, int64_t until_ns, struct sonde_err *err);
bool job_has_ended(const struct job *j);
int job_status(const struct job *j); /* as waitpid tells it; after job_wait gave 0 or after job_end */
void job_usage(const struct job *j, struct job_usage *usage);
/* All that the kernel counts, of every process that was waited for; false: not known (before its end). Of a container
 * time and memory of its control group, as job_poll last saw them; what is less than none is not known. */
bool job_rusage(const struct job *j, struct rusage *usage);
/* While it runs, now and then: at what cannot be seen afterwards. Cheap when it was done just before. */
void job_poll(struct job *j);

bool job_is_client(const struct job *j); /* what is waited for is a container engine's client */

/* A signal for every process of the tree. */
int job_signal(struct job *j, int signal, struct sonde_err *err);
/* End the whole tree; returns when nothing of it lives. Fine when it has ended already: stragglers go too. */
int job_end(struct job *j, const struct job_ladder *ladder, struct sonde_err *err);
/*
 * The tree is killed at that CLOCK_MONOTONIC time unless a later one is set before; INT64_MAX: never. Its keeper does
 * it, so that it happens even when we are stopped or held up. A container's processes are the engine's: not they.
 */
int job_set_deadline(struct job *j, int64_t deadline_ns, struct sonde_err *err);
/* Of one that has ended: because its deadline had come, a later one not having been set in time? */
bool job_is_overdue(const struct job *j);
/* Change a limit while it runs; -ENOTSUP where the place has none. */
int job_set_limits(struct job *j, const struct job_limits *limits, struct sonde_err *err);
/* Of the command as it sees itself: another one in a sandbox or container. */
pid_t job_inner_pid(const struct job *j);
/* Let go of a foreground job without ending it: what lives goes on. One that is bound, or in a place that must be put
 * away, is ended. */
void job_abandon(struct job *j);
void job_free(struct job *j); /* kills what still lives; NULL is fine */

#endif
