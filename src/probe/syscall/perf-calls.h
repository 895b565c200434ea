/*
 * points: system calls seen by perf's tracepoints raw_syscalls, where BPF cannot be loaded.
 *
 * As with bpf-calls.h the watcher follows forks and execs. Calls, results, descriptors,
 * sizes and times are exact; names are there where deferred-calls.h can prove them, and else absent.
 * A record that did not fit into its ring is counted, and from then on nobody is
 * believed to know which file a descriptor is, until it is opened anew.
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
	uint64_t *untraced_heads; /* up to there records may be missing */
	size_t ring_count;
	size_t number_at, args_at, end_number_at, ret_at; /* fields of the tracepoints */
	int64_t until_ns;
	bool is_untraced;
};

int point_calls_open(struct point_calls *c, const struct probe_target *t, struct sonde_err *err);
void point_calls_release(struct point_calls *c);
size_t point_calls_fds(const struct point_calls *c, int *fds, size_t room);
/* What is there by now is what point_calls_take takes: before the watcher's events are read. */
void point_calls_mark(struct point_calls *c, bool is_last);
/* It and the watcher's events become events of c->late. How many bytes of the latter it took; the rest waits. */
size_t point_calls_take(struct point_calls *c, const char *events, size_t bytes);

#endif
