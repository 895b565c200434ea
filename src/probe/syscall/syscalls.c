/*
 * System calls of programs that the tracer cannot see: static ones, Go's, those that do
 * not load it. They become rows of the table io, as the tracer's calls are.
 *
 * Nothing is counted twice: an image is either the tracer's or ours, see image.h.
 */
#include "base/json.h"
#include "probe/probe.h"
#include "probe/syscall/event.h"
#include "probe/syscall/rows.h"
#include "probe/syscall/watcher.h"

#include "base/buf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READ_BYTES 65536

const struct probe_ops probe_syscalls;

struct syscalls {
	struct probe_host *host;
	struct watcher watcher;
	struct syscall_rows rows;
	struct buf in; /* events, the last perhaps not whole */
	uint64_t told;
	bool is_over; /* the watcher has ended */
};

static void free_syscalls(void *state)
{
	struct syscalls *s = state;
	watcher_release(&s->watcher);
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
	s->watcher.fd = -1;
	buf_init(&s->in, 0);
	if (syscall_rows_init(&s->rows, host)) {
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
	struct watcher_options o = { .target = t->pid,
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

/* Whole events out of what has come; what is left moves to the front. */
static uint64_t take_events(struct syscalls *s)
{
	uint64_t taken = 0;
	size_t at = 0;
	while (s->in.len - at >= sizeof(struct syscall_event)) {
		const struct syscall_event *e = (const void *)(s->in.data + at);
		if (e->bytes < sizeof(*e) || e->bytes > s->in.len - at)
			break;
		syscall_rows_take(&s->rows, e);
		at += e->bytes;
		taken++;
	}
	memmove(s->in.data, s->in.data + at, s->in.len - at);
	s->in.len -= at;
	return taken;
}

static uint64_t read_events(struct syscalls *s, bool is_last)
{
	uint64_t taken = 0;
	while (!s->is_over) {
		char *room = buf_reserve(&s->in, READ_BYTES) ? s->in.data + s->in.len : NULL;
		ssize_t n = room ? read(s->watcher.fd, room, READ_BYTES) : -1;
		if (n < 0 && errno == EINTR)
			continue;
		s->is_over = n == 0;
		if (n <= 0)
			break;
		s->in.len += (size_t)n;
		taken += take_events(s);
		if (n < READ_BYTES && !is_last)
			break;
	}
	probe_count(s->host, &probe_syscalls, s->rows.rows - s->told, 0);
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
	json_kstr(j, "by", "ptrace");
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
