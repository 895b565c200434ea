/*
 * The syscalls probe: system calls of programs that the tracer cannot record: static
 * ones, Go programs, those that do not load it. They become rows of the table io, like
 * the tracer's calls.
 *
 * Calls are not counted twice: a process is recorded either by the tracer or by this
 * probe, see exec-image.h.
 */
#include "base/json.h"
#include "probe/probe.h"
#include "probe/syscall/bpf-calls.h"
#include "probe/syscall/event.h"
#include "probe/syscall/perf-calls.h"
#include "probe/syscall/ptrace-process.h"
#include "probe/syscall/syscall-rows.h"
#include "probe/syscall/syscall-table.h"

#include "base/buf.h"
#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES 65536
#define NAMES_NS 5000000 /* between passes that read names: a file that is open for longer gets its name */

const struct probe_ops probe_syscalls;

struct syscalls {
	struct probe_host *host;
	struct watcher watcher;
	const char *by;
	struct kernel_calls kernel; /* kernel.seen -1: not used */
	struct point_calls points;  /* points.is_on: used; if neither is, the ptrace process records calls */
	int64_t passed_ns;
	struct syscall_event *call; /* buffer for one event of the kernel */
	struct syscall_rows rows;
	struct buf in; /* events, the last may be incomplete */
	bool is_over;  /* the ptrace process has exited */
};

static void free_syscalls(void *state)
{
	struct syscalls *s = state;
	watcher_release(&s->watcher);
	kernel_calls_release(&s->kernel);
	point_calls_release(&s->points);
	free(s->call);
	syscall_rows_release(&s->rows);
	buf_release(&s->in);
	free(s);
}

static int open_syscalls(struct probe_host *host, void **state, struct sonde_err *err)
{
#ifndef __x86_64__
	return err_set(err, ENOTSUP, "system calls are supported on x86-64 only");
#endif
	if (host->options.has_own_pids)
		return err_set(err, ENOTSUP, "system calls are not seen in a sandbox or container");
	struct syscalls *s = calloc(1, sizeof(*s));
	if (!s)
		return err_sys(err, ENOMEM, "cannot watch system calls");
	s->host = host;
	s->watcher.fd = s->kernel.seen = -1;
	s->call = malloc(KERNEL_EVENT_MAX);
	buf_init(&s->in, 0);
	if (!s->call || syscall_rows_init(&s->rows, host)) {
		free_syscalls(s);
		return err_sys(err, ENOMEM, "cannot watch system calls");
	}
	*state = s;
	return 0;
}

/* Methods to record calls, best first. */

static int start_bpf(struct syscalls *s, struct sonde_err *err)
{
	int rc = kernel_calls_open(&s->kernel);
	return rc ? err_sys(err, -rc, "BPF programs cannot be loaded") : 0;
}

static int start_points(struct syscalls *s, struct sonde_err *err)
{
	return point_calls_open(&s->points, &s->host->target, err);
}

static int start_stops(struct syscalls *s, struct sonde_err *err)
{
	(void)s, (void)err;
	return 0; /* the ptrace process records them */
}

static const struct {
	const char *name;
	int (*start)(struct syscalls *s, struct sonde_err *err);
} ways[] = { { "bpf", start_bpf }, { "perf", start_points }, { "ptrace", start_stops } };
#define WAYS (sizeof(ways) / sizeof(*ways))

static int attach_syscalls(void *state, struct sonde_err *err)
{
	struct syscalls *s = state;
	const struct probe_target *t = &s->host->target;
	if ((t->kind != PROBE_COMMAND && t->kind != PROBE_PID) || t->pid <= 0) {
		err_set(err, ENOTSUP,
				"system calls are seen of a command or a process, not of a machine or control group");
		return -ENOTSUP;
	}
	/* The first way that starts, or only the one that was asked for. */
	const char *wanted = s->host->options.calls_by;
	int rc = -ENOTSUP;
	for (size_t i = 0; rc && i < WAYS; i++) {
		if (wanted && strcmp(wanted, ways[i].name) != 0)
			continue;
		rc = ways[i].start(s, err);
		s->by = ways[i].name;
	}
	if (rc)
		return rc;
	struct watcher_options o = { .seen = s->kernel.seen,
		.target = t->pid,
		.is_running = t->kind == PROBE_PID,
		.has_tracer = s->host->options.has_tracer,
		.is_by_points = s->points.is_on };
	return watcher_start(&s->watcher, &o, err);
}

static size_t syscalls_fds(void *state, int *fds, size_t room)
{
	struct syscalls *s = state;
	if (!room)
		return 0;
	*fds = s->watcher.fd;
	return 1 + point_calls_fds(&s->points, fds + 1, room - 1);
}

static int64_t syscalls_due_ns(void *state)
{
	const struct syscalls *s = state;
	return s->points.is_on ? s->passed_ns + NAMES_NS : INT64_MAX;
}

/* Returns the next complete event of the ptrace process, from byte `at` of the input. */
static const struct syscall_event *event_at(const struct syscalls *s, size_t at)
{
	const struct syscall_event *e = (const void *)(s->in.data + at);
	if (!s->in.data || s->in.len - at < sizeof(*e) || e->bytes < sizeof(*e) || e->bytes > s->in.len - at)
		return NULL;
	return e;
}

/* Adds links that BPF cannot read: read a moment later, when they may be gone. */
static void add_links(struct syscall_event *e)
{
	char path[64], *to = (char *)(e + 1);
	const struct syscall_row *row = syscall_row_of(e->number, e->args, false);
	int64_t fd = row && row->effect == SYSCALL_PAIRS ? (int64_t)e->args[4] : e->ret;
	if (!row || e->ret < 0 || (row->effect != SYSCALL_MAKES && row->effect != SYSCALL_PAIRS))
		return;
	for (int i = 0; i < SYSCALL_TEXTS; i++)
		to += e->text_bytes[i];
	snprintf(path, sizeof(path), "/proc/%d/fd/%lld", e->pid, (long long)fd);
	ssize_t n = readlink(path, to, SYSCALL_TEXT_MAX);
	e->has_text[SYSCALL_TEXTS - 1] = n > 0;
	e->text_bytes[SYSCALL_TEXTS - 1] = n > 0 ? (uint16_t)n : 0;
}

/*
 * Merges the ptrace process's events and the kernel's calls in time order. Consumes
 * calls up to `end`, which was read before the ptrace process's events: so a process is
 * known before its first call. An event later than `until_ns` may have earlier calls
 * behind `end` and stays queued.
 */
static uint64_t consume_events(struct syscalls *s, uint64_t end, int64_t until_ns)
{
	uint64_t taken = 0;
	size_t at = 0;
	for (;; taken++) {
		const struct syscall_event *e = event_at(s, at);
		bool has_call = s->kernel.seen >= 0 && kernel_calls_peek(&s->kernel, end, s->call);
		if (e && (s->kernel.seen < 0 || e->ts_ns <= (has_call ? s->call->end_ns : until_ns))) {
			syscall_rows_add(&s->rows, e);
			at += e->bytes;
		} else if (has_call) {
			add_links(s->call);
			syscall_rows_add(&s->rows, s->call);
			kernel_calls_next(&s->kernel);
		} else {
			break;
		}
	}
	memmove(s->in.data, s->in.data + at, s->in.len - at);
	s->in.len -= at;
	return taken;
}

/* The same with tracepoints. */
static uint64_t consume_points(struct syscalls *s)
{
	uint64_t taken = 0;
	size_t at = point_calls_consume(&s->points, s->in.data, s->in.len);
	for (const struct syscall_event *e; (e = deferred_next(&s->points.late)); taken++)
		syscall_rows_add(&s->rows, e);
	memmove(s->in.data, s->in.data + at, s->in.len - at);
	s->in.len -= at;
	return taken;
}

static uint64_t read_events(struct syscalls *s, bool is_last)
{
	if (s->points.is_on)
		point_calls_mark(&s->points, is_last);
	int64_t until_ns = is_last ? INT64_MAX : clock_mono_ns();
	uint64_t end = is_last ? 0 : kernel_calls_end(&s->kernel), taken = 0;
	while (!s->is_over) {
		char *room = buf_reserve(&s->in, READ_BYTES) ? s->in.data + s->in.len : NULL;
		ssize_t n = room ? read(s->watcher.fd, room, READ_BYTES) : -1;
		if (n < 0 && errno == EINTR)
			continue;
		s->is_over = n == 0;
		if (n <= 0)
			break;
		s->in.len += (size_t)n;
		if (s->kernel.seen < 0 && !s->points.is_on)
			taken += consume_events(s, 0, until_ns);
		if (n < READ_BYTES && !is_last)
			break;
	}
	if (s->kernel.seen >= 0)
		taken += consume_events(s, is_last ? kernel_calls_end(&s->kernel) : end, until_ns);
	if (s->points.is_on)
		taken += consume_points(s);
	return taken;
}

static uint64_t pass_syscalls(void *state, int64_t now_ns)
{
	struct syscalls *s = state;
	s->passed_ns = now_ns;
	return read_events(s, false);
}

static void finish_syscalls(void *state, int64_t now_ns)
{
	struct syscalls *s = state;
	(void)now_ns;
	watcher_stop(&s->watcher);
	read_events(s, true);
	probe_count(s->host, &probe_syscalls, s->rows.rows,
			s->kernel.seen >= 0 ? kernel_calls_lost(&s->kernel) : s->points.lost);
	/* Reports what was not recorded. */
	struct sonde_err why = SONDE_ERR_INIT;
	char foreign[96] = "", unnamed[96] = "";
	uint64_t unnamed_count = s->points.is_on ? s->rows.unnamed : 0;
	if (!s->rows.foreign && !unnamed_count)
		return;
	if (s->rows.foreign)
		snprintf(foreign, sizeof(foreign), "calls of %llu 32-bit programs are not known%s",
				(unsigned long long)s->rows.foreign, unnamed_count ? "; " : "");
	if (unnamed_count)
		snprintf(unnamed, sizeof(unnamed),
				"by tracepoints of perf: %llu calls were given a path that is not known",
				(unsigned long long)unnamed_count);
	err_set(&why, ENODATA, "%s%s", foreign, unnamed);
	if (unnamed_count)
		err_hint(&why, "--syscalls-by ptrace knows all paths, at 20 us a call");
	probe_remark(s->host, &probe_syscalls, &why);
}

static void report_syscalls(void *state, struct json *j)
{
	struct syscalls *s = state;
	json_kstr(j, "by", s->by);
	json_kuint(j, "images", s->rows.images);
	json_kuint(j, "filtered", s->rows.filtered);
	json_kuint(j, "unnamed", s->rows.unnamed);
	json_kuint(j, "foreign", s->rows.foreign);
	if (s->points.is_on) {
		json_kuint(j, "names", s->points.late.names.told);
		json_kuint(j, "disbelieved", s->points.late.names.dropped);
	}
}

const struct probe_ops probe_syscalls = {
	.name = "syscalls",
	.doc = "calls of programs that the tracer cannot see: static ones, Go's",
	.option = "--syscalls",
	.open = open_syscalls,
	.attach = attach_syscalls,
	.fds = syscalls_fds,
	.due_ns = syscalls_due_ns,
	.pass = pass_syscalls,
	.finish = finish_syscalls,
	.report = report_syscalls,
	.free = free_syscalls,
};
