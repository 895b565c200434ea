/*
 * System calls of programs that the tracer cannot see: static ones, Go's, those that do
 * not load it. They become rows of the table io, as the tracer's calls are.
 *
 * Nothing is counted twice: an image is either the tracer's or ours, see image.h.
 */
#include "base/json.h"
#include "probe/probe.h"
#include "probe/syscall/event.h"
#include "probe/syscall/kernel.h"
#include "probe/syscall/rows.h"
#include "probe/syscall/table.h"
#include "probe/syscall/watcher.h"

#include "base/buf.h"
#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES 65536

const struct probe_ops probe_syscalls;

struct syscalls {
	struct probe_host *host;
	struct watcher watcher;
	struct kernel_calls kernel; /* kernel.seen -1: calls come from the watcher */
	struct syscall_event *call; /* room for one of the kernel's */
	struct syscall_rows rows;
	struct buf in; /* events, the last perhaps not whole */
	uint64_t told;
	bool is_over; /* the watcher has ended */
};

static void free_syscalls(void *state)
{
	struct syscalls *s = state;
	watcher_release(&s->watcher);
	kernel_calls_release(&s->kernel);
	free(s->call);
	syscall_rows_release(&s->rows);
	buf_release(&s->in);
	free(s);
}

static int open_syscalls(struct probe_host *host, void **state, struct sonde_err *err)
{
#ifndef __x86_64__
	return err_set(err, ENOTSUP, "system calls are known by their x86-64 numbers alone");
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

static int attach_syscalls(void *state, struct sonde_err *err)
{
	struct syscalls *s = state;
	const struct probe_target *t = &s->host->target;
	if ((t->kind != PROBE_COMMAND && t->kind != PROBE_PID) || t->pid <= 0) {
		err_set(err, ENOTSUP,
				"system calls are seen of a command or a process, not of a machine or control group");
		return -ENOTSUP;
	}
	if (kernel_calls_open(&s->kernel))
		s->kernel.seen = -1;
	struct watcher_options o = { .seen = s->kernel.seen,
		.target = t->pid,
		.is_running = t->kind == PROBE_PID,
		.has_tracer = s->host->options.has_tracer };
	return watcher_start(&s->watcher, &o, err);
}

static size_t syscalls_fds(void *state, int *fds, size_t room)
{
	struct syscalls *s = state;
	if (room)
		*fds = s->watcher.fd;
	return room > 0;
}

/* The next whole event of the watcher's, from byte `at` of what has come. */
static const struct syscall_event *event_at(const struct syscalls *s, size_t at)
{
	const struct syscall_event *e = (const void *)(s->in.data + at);
	if (!s->in.data || s->in.len - at < sizeof(*e) || e->bytes < sizeof(*e) || e->bytes > s->in.len - at)
		return NULL;
	return e;
}

/* What the kernel cannot tell without standing still: looked up a moment later, and perhaps gone. */
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
 * The watcher's events and the kernel's calls, in the order of time. Of the calls those
 * up to `end`, which was there before the watcher's events were read: so an image is
 * known before its first call. An event later than `until_ns` may have earlier calls
 * behind `end` and waits.
 */
static uint64_t take_events(struct syscalls *s, uint64_t end, int64_t until_ns)
{
	uint64_t taken = 0;
	size_t at = 0;
	for (;; taken++) {
		const struct syscall_event *e = event_at(s, at);
		bool has_call = s->kernel.seen >= 0 && kernel_calls_peek(&s->kernel, end, s->call);
		if (e && (s->kernel.seen < 0 || e->ts_ns <= (has_call ? s->call->end_ns : until_ns))) {
			syscall_rows_take(&s->rows, e);
			at += e->bytes;
		} else if (has_call) {
			add_links(s->call);
			syscall_rows_take(&s->rows, s->call);
			kernel_calls_next(&s->kernel);
		} else {
			break;
		}
	}
	memmove(s->in.data, s->in.data + at, s->in.len - at);
	s->in.len -= at;
	return taken;
}

static uint64_t read_events(struct syscalls *s, bool is_last)
{
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
		if (s->kernel.seen < 0)
			taken += take_events(s, 0, until_ns);
		if (n < READ_BYTES && !is_last)
			break;
	}
	if (s->kernel.seen >= 0)
		taken += take_events(s, is_last ? kernel_calls_end(&s->kernel) : end, until_ns);
	uint64_t lost = s->kernel.seen >= 0 && is_last ? kernel_calls_lost(&s->kernel) : 0;
	probe_count(s->host, &probe_syscalls, s->rows.rows - s->told, lost);
	s->told = s->rows.rows;
	return taken;
}

static uint64_t pass_syscalls(void *state, int64_t now_ns)
{
	(void)now_ns;
	return read_events(state, false);
}

static void finish_syscalls(void *state, int64_t now_ns)
{
	struct syscalls *s = state;
	(void)now_ns;
	watcher_stop(&s->watcher);
	read_events(s, true);
}

static void report_syscalls(void *state, struct json *j)
{
	struct syscalls *s = state;
	json_kstr(j, "by", s->kernel.seen >= 0 ? "bpf" : "ptrace");
	json_kuint(j, "images", s->rows.images);
	json_kuint(j, "filtered", s->rows.filtered);
}

const struct probe_ops probe_syscalls = {
	.name = "syscalls",
	.doc = "calls of programs that the tracer cannot see: static ones, Go's",
	.option = "--syscalls",
	.open = open_syscalls,
	.attach = attach_syscalls,
	.fds = syscalls_fds,
	.pass = pass_syscalls,
	.finish = finish_syscalls,
	.report = report_syscalls,
	.free = free_syscalls,
};
