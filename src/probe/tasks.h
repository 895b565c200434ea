/*
 * tasks: the threads known to probes, from fork to exit.
 *
 * Updated from perf's fork, comm and exit records; an older thread is added when it is first seen, with its data from
 * /proc. An exited thread is kept for a second, because its last records may still arrive; then it is written to the
 * table task and freed. So memory is proportional to the number of live threads.
 *
 * If the command is a container's, we start its engine, which starts others before the program: these are tracked, but
 * get no rows. The program is the first to exec in another PID namespace, and its descendants.
 */
#ifndef SONDE_PROBE_TASKS_H
#define SONDE_PROBE_TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct probe_host;
struct space; /* perf/addrspace.h: the mappings of a process */

enum task_side { TASK_PROGRAM, TASK_ENTERED, TASK_ENGINE }; /* ENTERED: in the container, still part of its engine */

struct task {
	int32_t pid, tid;
	int32_t inner_pid; /* of a process: its pid in its own namespace; 0: unknown */
	enum task_side side;
	int64_t ppid, start_ns, end_ns; /* STORE_NULL: unknown, or alive */
	int64_t number, parent;         /* of the process in the run, if tasks assigns them; else STORE_NULL */
	int64_t exe;                    /* string id: path of its executable; STORE_NULL: not seen */
	int64_t name;                   /* string id */
	int64_t run_ns;                 /* exact; STORE_NULL until reported */
	int64_t before_ns;              /* CPU time that it had used before the recording; else 0 */
	/* If context switches are reported: start of the current time on a CPU, and the sum of earlier ones. */
	int64_t on_ns, ran_ns; /* on_ns STORE_NULL: off CPU, or unknown */
	int64_t weighed_ns;    /* the part of it that samples stand for */
	bool is_timed;         /* run_ns is from its switches */
	uint64_t lost_before;  /* records lost before it started: if none since, its switches are complete */
	uint64_t samples;
	int64_t sampled_ns;  /* CPU time that its samples stand for */
	bool is_kept;        /* its row is written at the end of the recording */
	struct space *space; /* of the thread with tid == pid; NULL: not known yet */
	/* sched: off-CPU since; off_ns STORE_NULL: it runs, or was never seen to stop */
	struct task_off {
		int64_t off_ns, cpu, state; /* state: string id */
		int64_t wake_ns, waker_pid, waker_tid;
		int64_t stack;
		int64_t looked_ns, look; /* and its stack then, if it still waited; looked_ns 0: not sampled */
	} off;
};

struct tasks {
	/* live and recently exited threads, unordered */
	struct task **all;
	size_t count;
	bool is_fed; /* forks and exits are reported */
	/* Called for each thread before its row is written; may be NULL. */
	void (*on_gone)(void *arg, const struct task *k);
	void *arg;
	uint64_t version;  /* incremented when a process starts or exits */
	int32_t container; /* pid of the program's first process, if it has an engine; 0: not seen yet */
	/* private */
	struct tasks_private *private;
};

struct tasks *tasks_new(struct probe_host *host);
void tasks_free(struct tasks *t); /* NULL is fine */

int32_t task_inner_tid(int32_t pid, int32_t tid);            /* a thread's tid in its own namespace; 0: it has exited */
struct task *tasks_find(const struct tasks *t, int32_t tid); /* NULL if unknown */
struct task *tasks_get(struct tasks *t, int32_t pid, int32_t tid); /* added if unknown; NULL: out of memory */
struct task *tasks_process(struct tasks *t, int32_t pid);          /* tasks_get of its main thread */

void tasks_fork(struct tasks *t, int32_t pid, int32_t tid, int32_t ppid, int64_t ts_ns);
void tasks_name(struct tasks *t, int32_t pid, int32_t tid, const char *name, size_t bytes);
void tasks_exit(struct tasks *t, int32_t pid, int32_t tid, int64_t ts_ns);
/* The thread is in this PID namespace now, which may be a container's. */
void tasks_enter(struct tasks *t, int32_t tid, uint64_t pid_namespace);
/* A process is about to exec the program, though it is not a descendant of ours. */
void tasks_on_start(struct tasks *t, int32_t pid);
/* A process of the engine executes something, or is seen again: if in a container, it belongs to the program. */
void tasks_execute(struct tasks *t, struct task *k, int64_t ts_ns);
void tasks_ran(struct tasks *t, int32_t pid, int32_t tid, int64_t run_ns); /* adds exact CPU time */
/* A context switch. If the first one of a thread takes it off the CPU, it was on since it was added. */
void tasks_switch(struct tasks *t, int32_t pid, int32_t tid, bool is_off, int64_t ts_ns);
/* Returns its CPU time until ts_ns, from its switches; STORE_NULL if it is not known to be on a CPU. */
int64_t task_ran_until(const struct task *k, int64_t ts_ns);

/* Writes the rows of threads that exited before `before_ns` and frees them. */
void tasks_emit_ended(struct tasks *t, int64_t before_ns);
void tasks_emit(struct tasks *t); /* of all, at the end */

#endif
