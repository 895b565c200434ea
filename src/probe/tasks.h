/*
 * tasks: the threads that probes know, from fork to exit.
 *
 * Fed by perf's records of forks, names and ends; a thread that was there before
 * is made known when it is first met, with what /proc says of it. A thread that
 * has ended stays for a second, because its last records may still be under way;
 * then it becomes a row of the table task and is forgotten. So memory follows the
 * number of live threads, not of all.
 *
 * Where the command is a container's, what we start is its engine, which starts others
 * before the program: these are known, but no rows come of them. The program is what executes
 * something in another PID namespace, and all that come from it.
 */
#ifndef SONDE_PROBE_TASKS_H
#define SONDE_PROBE_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct probe_host;
struct space; /* perf/space.h: the mappings of a process */

enum task_side { TASK_PROGRAM, TASK_ENTERED, TASK_ENGINE }; /* ENTERED: in the container, and still its engine's */

struct task {
	int32_t pid, tid;
	int32_t inner_pid; /* of a process: its number as it knows it itself; 0: not known */
	enum task_side side;
	int64_t ppid, start_ns, end_ns; /* STORE_NULL: unknown, or lives */
	int64_t number, parent; /* of the process among those of the run, where tasks count them; else STORE_NULL */
	int64_t exe;            /* id of a string: path of its program; STORE_NULL: not seen */
	int64_t name;           /* id of a string */
	int64_t run_ns;         /* exact, STORE_NULL while nobody has said */
	int64_t before_ns;      /* of one that was there before us: what it had run by then; else 0 */
	/* Where context switches are reported: since when it is on a CPU, and how long it was before that. */
	int64_t on_ns, ran_ns; /* on_ns STORE_NULL: it is not, or nobody knows */
	int64_t weighed_ns;    /* of that time what samples stand for */
	bool is_timed;         /* run_ns is by its switches */
	uint64_t lost_before;  /* records that were lost before it began: its switches are all there if that is all */
	uint64_t samples;
	int64_t sampled_ns;  /* CPU time that they stand for */
	bool is_kept;        /* its row waits for the end of the recording */
	struct space *space; /* of the thread whose tid is the pid; NULL: not known yet */
	/* sched: off its CPU since; off_ns STORE_NULL: it runs or was never seen to stop */
	struct task_off {
		int64_t off_ns, cpu, state; /* state: id of a string */
		int64_t wake_ns, waker_pid, waker_tid;
		int64_t stack;
		int64_t looked_ns, look; /* and its stack then, if it still waited; looked_ns 0: nobody has looked */
	} off;
};

struct tasks {
	/* live ones and those that ended a moment ago, in no order */
	struct task **all;
	size_t count;
	bool is_fed; /* somebody reports forks and ends */
	/* Called for each before its row is written; NULL: nobody asks. */
	void (*on_gone)(void *arg, const struct task *k);
	void *arg;
	uint64_t version;  /* rises with every process that begins or ends */
	int32_t container; /* pid of the first process of the program, where it has an engine; 0: not seen yet */
	/* private */
	struct tasks_private *private;
};

struct tasks *tasks_new(struct probe_host *host);
void tasks_free(struct tasks *t); /* NULL is fine */

int32_t task_inner_tid(int32_t pid, int32_t tid); /* a thread's number as it knows it itself; 0: it has gone */
struct task *tasks_find(const struct tasks *t, int32_t tid);       /* NULL when unknown */
struct task *tasks_get(struct tasks *t, int32_t pid, int32_t tid); /* made when unknown; NULL: no memory */
struct task *tasks_process(struct tasks *t, int32_t pid);          /* tasks_get of its first thread */

void tasks_fork(struct tasks *t, int32_t pid, int32_t tid, int32_t ppid, int64_t ts_ns);
void tasks_name(struct tasks *t, int32_t pid, int32_t tid, const char *name, size_t bytes);
void tasks_exit(struct tasks *t, int32_t pid, int32_t tid, int64_t ts_ns);
/* It is in the PID namespace of that number now, which may be a container's. */
void tasks_enter(struct tasks *t, int32_t tid, uint64_t pid_namespace);
/* A process that is about to be the program, though none of ours has forked it. */
void tasks_on_start(struct tasks *t, int32_t pid);
/* An engine's process executes something, or is met again: the program's if that is in a container. */
void tasks_execute(struct tasks *t, struct task *k, int64_t ts_ns);
void tasks_ran(struct tasks *t, int32_t pid, int32_t tid, int64_t run_ns); /* that much more, exactly */
/* A context switch. The first that is told of a thread may take it off: then it was on since it was made known. */
void tasks_switch(struct tasks *t, int32_t pid, int32_t tid, bool is_off, int64_t ts_ns);
/* How long it has run until ts_ns, by its switches; STORE_NULL: nobody knows whether it was on a CPU. */
int64_t task_ran_until(const struct task *k, int64_t ts_ns);

/* Write the rows of those that ended before `before_ns` and forget them. */
void tasks_emit_ended(struct tasks *t, int64_t before_ns);
void tasks_emit(struct tasks *t); /* of all, at the end */

#endif
