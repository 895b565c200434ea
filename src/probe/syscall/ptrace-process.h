/*
 * watcher: a process of ours that sees the system calls of others by ptrace.
 *
 * A process of its own, because a tracer that is also the parent takes the place of both
 * and could not tell a stop of the program's job from one of its own. What it watches
 * goes on as if nobody looked: signals and stops are passed on, nothing is stepped or
 * changed, and when the watcher or the recorder dies the kernel lets the program go.
 * Images that the tracer sees (exec-image.h), and all where the kernel tells of calls
 * (bpf-calls.h, perf-calls.h), run at full speed: of them only forks, execs and signals are noticed. But who is not
 * root stops them at every call: a program with rights of its own loses them if it is watched when it starts, and
 * only the call before tells of that in time.
 * There is no seccomp filter that would spare the others more: after the death of the
 * watcher it would make the program's calls fail.
 */
#ifndef SONDE_PROBE_SYSCALL_PTRACE_PROCESS_H
#define SONDE_PROBE_SYSCALL_PTRACE_PROCESS_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/types.h>

struct watcher {
	pid_t pid; /* 0: none */
	int fd;    /* its events (event.h), in the order they happened */
};

struct watcher_options {
	pid_t target; /* a command that waits before its exec, or a process that runs */
	bool is_running;
	bool has_tracer; /* the tracer is on: images that it sees are left to it */
	int seen;        /* of bpf-calls.h, which takes the calls then; -1: others do */
	/* as perf-calls.h does; but where the tracer is too, whose own calls only paths tell apart */
	bool is_by_points;
};

int watcher_start(struct watcher *w, const struct watcher_options *o, struct sonde_err *err);
void watcher_stop(struct watcher *w); /* it lets all go; its last events can still be read */
void watcher_release(struct watcher *w);

#endif
