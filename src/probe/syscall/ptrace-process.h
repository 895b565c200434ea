/*
 * ptrace-process: a process of ours that records the system calls of others with ptrace.
 *
 * It is a separate process, because for a ptracer that is also the parent, wait() cannot tell job-control stops of the
 * program from ptrace stops. Tracing is transparent: signals and stops are passed on, nothing is stepped or changed,
 * and if the ptrace process or the recorder dies, the kernel detaches the program. Processes that the tracer records
 * (exec-image.h), and all if the kernel records calls (bpf-calls.h, perf-calls.h), run at full speed: only their forks,
 * execs and signals are stopped at. For users other than root they stop at every call: a setuid program loses its
 * privileges if it is traced during its exec, and only the entry of that call shows it in time. A seccomp filter
 * (SECCOMP_RET_TRACE) would avoid more stops, but after the death of the ptrace process it would make the program's
 * calls fail.
 */
#ifndef SONDE_PROBE_SYSCALL_PTRACE_PROCESS_H
#define SONDE_PROBE_SYSCALL_PTRACE_PROCESS_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct watcher {
	pid_t pid; /* 0: none */
	int fd;    /* its events (event.h), in time order */
};

struct watcher_options {
	pid_t target; /* a command that waits before its exec, or a running process */
	bool is_running;
	bool has_tracer; /* the tracer is on: processes that it records are skipped */
	int seen;        /* of bpf-calls.h, which records the calls then; -1: not used */
	/* perf-calls.h records the calls, except in processes with libsonde: its own calls differ only by path */
	bool is_by_points;
};

int watcher_start(struct watcher *w, const struct watcher_options *o, struct sonde_err *err);
void watcher_stop(struct watcher *w); /* detaches from all; its last events can still be read */
void watcher_release(struct watcher *w);

#endif
