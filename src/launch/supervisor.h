/*
 * supervisor: the process between sonde and a job's command.
 *
 * Every job has one. It is the subreaper of the command's tree (in a sandbox, process 1), so that all processes of
 * the tree, and no others, descend from it, and "the supervisor has no child" means that no process is left. It
 * starts the command, reports its exit, and kills the tree on request or when sonde dies: its socket closes then,
 * even after SIGKILL. It may also have a deadline at which it kills the tree independently of sonde.
 *
 * The supervisor is a fork without exec of a process that may have threads. So it works on a plan prepared before
 * the fork and uses no malloc, stdio or locks. It closes all inherited descriptors, so that a pipe reaches end of
 * file when the tree closes it.
 */
#ifndef SONDE_LAUNCH_SUPERVISOR_H
#define SONDE_LAUNCH_SUPERVISOR_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

struct sandbox;

struct supervisor_plan {
	char *const *argv;
	char *const *envp;
	const char *cwd;
	int fds[3]; /* no special values; -1 is /dev/null */
	const int *inherit;
	size_t inherit_count;
	const cpu_set_t *cpus;
	bool has_priority;                /* applies to the supervisor too: it timestamps the command's exit */
	bool is_foreground;               /* in our process group, with all descriptors */
	bool is_bound;                    /* killed when sonde dies */
	int64_t mercy_ns;                 /* grace period from SIGTERM to SIGKILL when sonde dies; 0: SIGKILL at once */
	void (*restore)(const void *arg); /* restores the signal handling; NULL: defaults, none blocked */
	const void *restore_arg;
	int cgroup_fd;       /* directory of a v2 cgroup for CLONE_INTO_CGROUP; -1: none */
	const int *join_fds; /* cgroup.procs of cgroups to join before exec */
	size_t join_count;
	bool is_joining;         /* also join that v2 cgroup: cloning into it failed */
	struct sandbox *sandbox; /* NULL: none */
	bool has_start_barrier;  /* the command waits at the start barrier before exec */
	int barrier_fd;          /* set by the supervisor: where the command waits */
};

/* Stages before exec, in order; supervisor_stage_words names them. */
enum supervisor_stage {
	SUPERVISOR_AT_FORK,
	SUPERVISOR_AT_PRIORITY,
	SUPERVISOR_AT_GROUP,
	SUPERVISOR_AT_STREAMS,
	SUPERVISOR_AT_PIN,
	SUPERVISOR_AT_CWD,
	SUPERVISOR_AT_BARRIER,
	SUPERVISOR_AT_EXEC,
	SUPERVISOR_AT_SANDBOX, /* plus the stages of the sandbox */
};

enum supervisor_message_kind {
	SUPERVISOR_BORN,    /* with the command's pidfd; it waits at the start barrier */
	SUPERVISOR_STARTED, /* with the command's pidfd */
	SUPERVISOR_FAILED,  /* errnum, stage; the supervisor exits */
	SUPERVISOR_ENDED,   /* status, is_overdue; usage so far */
	SUPERVISOR_STUCK,   /* errnum: of a process that we may not kill */
	SUPERVISOR_GONE,    /* no process is left; usage of all; the supervisor exits */
};

struct supervisor_message {
	int32_t kind, pid, errnum, stage, status;
	int32_t is_overdue;    /* its deadline had passed */
	int64_t at_ns;         /* STARTED: just before exec; ENDED: when the exit was seen */
	int64_t max_rss_bytes; /* -1: not above what a child inherits from us by fork */
	struct rusage usage;   /* of all reaped processes and the children they waited for */
};

/* Starts a supervisor. 0 with our end of its socket and its pidfd, or -errno. */
int supervisor_start(const struct supervisor_plan *plan, int *sock, int *supervisor_pidfd, pid_t *supervisor_pid);
/*
 * Receives a message; *fd is the descriptor passed with it, or -1. 1: received, 0: the supervisor is dead, -EAGAIN:
 * none.
 */
int supervisor_receive(int sock, struct supervisor_message *word, int *fd);
int supervisor_send_kill(int sock);
int supervisor_open_barrier(int sock);
/* The tree is killed at this CLOCK_MONOTONIC time, unless a later one is set before. */
int supervisor_set_deadline(int sock, int64_t deadline_ns);
const char *supervisor_stage_words(int stage);

/*
 * Like fork, without its handlers, which may take locks. exit_signal 0: the parent gets no signal. -errno on
 * failure.
 */
pid_t supervisor_fork(uint64_t namespaces, int exit_signal, int cgroup_fd, int *pidfd);
/* In the child: executes the command, or writes to `report` what failed. */
void supervisor_exec_child(const struct supervisor_plan *plan, int report) __attribute__((noreturn));
void supervisor_report(int report, int stage, int errnum) __attribute__((noreturn));

struct supervisor_report { /* sent by the child before exec; errnum 0: about to exec */
	int32_t stage, errnum;
	int64_t at_ns;
};

#endif
