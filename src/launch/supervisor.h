/*
 * keeper: the process between us and a job's command.
 *
 * Every job has one. It is the reaper of whatever the command's tree orphans (a
 * subreaper; in a sandbox, process 1), so that all of the tree descends from it and
 * from nobody else's job, and "the keeper has no child" is exactly "nothing lives".
 * It starts the command, tells how it ended, and ends the tree when it is told to
 * or when we are gone: its socket closes when we die, even by SIGKILL. It may also be
 * given a time at which it ends the tree by itself, whatever has become of us.
 *
 * The keeper is a fork of us that executes nothing, and we may have threads: it
 * works on a plan made beforehand and uses neither malloc nor stdio nor locks. It
 * keeps none of our descriptors, so a pipe ends when the tree lets go of it.
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
	bool has_priority;  /* so has the keeper itself: it tells when the command ended */
	bool is_foreground; /* in our process group, with every descriptor */
	bool is_bound;      /* ends when we die */
	int64_t mercy_ns; /* when we die its children get TERM, and so long before they are killed; 0: killed at once */
	void (*restore)(const void *arg); /* signals as the command shall find them; NULL: all as usual, none blocked */
	const void *restore_arg;
	int cgroup_fd;       /* directory of a v2 group to be born in; -1: none */
	const int *join_fds; /* cgroup.procs of groups to join before exec */
	size_t join_count;
	bool is_joining;         /* that v2 group too is joined, being born there having failed */
	struct sandbox *sandbox; /* NULL: none */
	bool has_start_barrier;  /* before exec the command waits to be let go */
	int barrier_fd;          /* the keeper's: where it does */
};

/* What can go wrong before exec, in the order of doing; supervisor_stage_words says it. */
enum supervisor_stage {
	SUPERVISOR_AT_FORK,
	SUPERVISOR_AT_PRIORITY,
	SUPERVISOR_AT_GROUP,
	SUPERVISOR_AT_STREAMS,
	SUPERVISOR_AT_PIN,
	SUPERVISOR_AT_CWD,
	SUPERVISOR_AT_BARRIER,
	SUPERVISOR_AT_EXEC,
	SUPERVISOR_AT_SANDBOX, /* and what the sandbox adds to it */
};

enum supervisor_message_kind {
	SUPERVISOR_BORN,    /* with the command's pidfd; it waits at the gate */
	SUPERVISOR_STARTED, /* with the command's pidfd */
	SUPERVISOR_FAILED,  /* errnum, stage; the keeper has gone */
	SUPERVISOR_ENDED,   /* status, is_overdue; usage until then */
	SUPERVISOR_STUCK,   /* errnum: a process that we may not kill */
	SUPERVISOR_GONE,    /* nothing lives; usage of all; the keeper has gone */
};

struct supervisor_message {
	int32_t kind, pid, errnum, stage, status;
	int32_t is_overdue;    /* its deadline had come */
	int64_t at_ns;         /* STARTED: just before exec; ENDED: when it was seen */
	int64_t max_rss_bytes; /* -1: not above what a fork of ours counts as its own */
	struct rusage usage;   /* of all that was reaped so far, and of those that it had waited for */
};

/* Starts a keeper. 0 with our end of its socket and a pidfd of the keeper, or -errno. */
int supervisor_start(const struct supervisor_plan *plan, int *sock, int *supervisor_pidfd, pid_t *supervisor_pid);
/* One word; *fd is a descriptor that came with it, or -1. 1 a word, 0 the keeper is dead, -EAGAIN none yet. */
int supervisor_receive(int sock, struct supervisor_message *word, int *fd);
int supervisor_send_kill(int sock);
int supervisor_open_barrier(int sock);
/* The tree is killed at that CLOCK_MONOTONIC time, unless a later one is told before. */
int supervisor_set_deadline(int sock, int64_t deadline_ns);
const char *supervisor_stage_words(int stage);

/* As fork, without its handlers, which may want locks. exit_signal 0: nobody is told. -errno. */
pid_t supervisor_fork(uint64_t namespaces, int exit_signal, int cgroup_fd, int *pidfd);
/* In the child: become the command, or tell on `report` what failed. */
void supervisor_exec_child(const struct supervisor_plan *plan, int report) __attribute__((noreturn));
void supervisor_report(int report, int stage, int errnum) __attribute__((noreturn));

struct supervisor_report { /* what the child says on its way to exec; errnum 0: going to */
	int32_t stage, errnum;
	int64_t at_ns;
};

#endif
