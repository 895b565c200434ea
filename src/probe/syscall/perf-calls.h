/*
 * perf-calls: records system calls with perf's raw_syscalls tracepoints, if BPF cannot be loaded.
 *
 * As with bpf-calls.h, the ptrace process follows forks and execs. Calls, results, descriptors, sizes and times are
 * exact; names are present if deferred-calls.h can prove them, else absent. Lost records are counted; after a loss the
 * file of every descriptor is unknown until it is opened again.
 */
#ifndef SONDE_PROBE_SYSCALL_PERF_CALLS_H
#define SONDE_PROBE_SYSCALL_PERF_CALLS_H

#include "base/err.h"
#include "probe/perf/perf-ring.h"
#include "probe/probe.h"
#include "probe/syscall/deferred-calls.h"

struct point_calls {
	bool is_on;
	uint64_t lost; /* records */
	struct late late;
	/* private */
	int *fds;
	size_t fd_count, fd_cap;
	struct map begins; /* ids of the events of sys_enter */
	struct ring **rings;
	int64_t *next_ns;
	uint64_t *untraced_heads; /* records may be missing up to here */
	size_t ring_count;
	size_t number_at, args_at, end_number_at, ret_at; /* offsets of the tracepoints' fields */
	int64_t until_ns;
	bool is_untraced;
};

int point_calls_open(struct point_calls *c, const struct probe_target *t, struct sonde_err *err);
void point_calls_release(struct point_calls *c);
size_t point_calls_fds(const struct point_calls *c, int *fds, size_t room);
/* Sets the end for point_calls_consume to the records written by now; call before the ptrace events are read. */
void point_calls_mark(struct point_calls *c, bool is_last);
/* Converts them and the ptrace process's events to events of c->late. Returns the bytes consumed of the latter. */
size_t point_calls_consume(struct point_calls *c, const char *events, size_t bytes);

#endif
