/* CPU time of threads for which no record reports it; see source.h. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "probe/perf/perf-private.h"
#include "probe/tasks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int64_t perf_ran_ns(const struct task *k)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char path[64], *end;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", k->pid, k->tid);
	if (fs_read_file(AT_FDCWD, path, 64, &text, NULL))
		return STORE_NULL;
	long long ns = strtoll(text.data, &end, 10);
	return end == text.data ? STORE_NULL : ns;
}

/* Threads still alive have no exit record; their time is in /proc. */
static int64_t ask_living(struct perf_source *s)
{
	int64_t sum_ns = 0;
	for (size_t i = 0; i < s->host->tasks->count; i++) {
		struct task *k = s->host->tasks->all[i];
		if (k->run_ns != STORE_NULL || k->end_ns != STORE_NULL || (k->start_ns == STORE_NULL && !k->before_ns))
			continue;
		k->run_ns = perf_ran_ns(k);
		if (k->run_ns != STORE_NULL)
			sum_ns += k->run_ns -= k->before_ns;
	}
	return sum_ns;
}

/* Returns the one exited thread without a reported CPU time; NULL if there are several. */
static struct task *find_silent(struct perf_source *s)
{
	struct task *found = NULL;
	for (size_t i = 0; i < s->host->tasks->count; i++) {
		struct task *k = s->host->tasks->all[i];
		if (k->run_ns == STORE_NULL && k->end_ns != STORE_NULL) {
			if (found)
				return NULL;
			found = k;
		}
	}
	return found;
}

/*
 * When threads with equal events alternate on a CPU, the kernel swaps their events
 * instead of disabling and enabling them. So the event that we opened may end up with
 * any thread of the tree, and that thread's exit has no record: only inherited events
 * report. The total is known, though, and that thread used the rest of it.
 */
void perf_read_roots(struct perf_source *s)
{
	struct perf_source_private *p = s->private;
	bool has_inherit = s->host->target.kind == PROBE_COMMAND || s->host->target.kind == PROBE_PID;
	int64_t rest_ns = 0;
	uint64_t lost = 0;
	for (size_t i = 0; i < p->opened_count; i++) {
		uint64_t values[3] = { 0 }; /* count, time, losses */
		if (read(p->opened[i].fd, values, sizeof(values)) < 16)
			continue;
		rest_ns += has_inherit && p->opened[i].is_leader ? (int64_t)values[1] : 0;
		lost += values[2];
	}
	if (lost > s->lost)
		s->lost = lost; /* a ring that was full to the end has no LOST record */
	for (size_t i = 0; i < p->root_count; i++)
		rest_ns -= p->roots[i].children_ns;
	if (has_inherit)
		rest_ns -= ask_living(s);
	struct task *silent = has_inherit ? find_silent(s) : NULL;
	if (silent && rest_ns >= 0)
		silent->run_ns = rest_ns;
}
