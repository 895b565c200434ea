#include "probe/syscall/deferred-calls.h"

#include "probe/syscall/syscall-table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define URING "anon_inode:[io_uring]"

/* Flags of a process. */
#define IS_WANTED 1u
#define IS_OPAQUE 2u /* its descriptors change without a visible call */

int deferred_init(struct late *l)
{
	*l = (struct late){ .room = malloc(sizeof(struct syscall_event) + SYSCALL_TEXT_MAX) };
	buf_init(&l->out, 0);
	return l->room ? 0 : -ENOMEM;
}

void deferred_release(struct late *l)
{
	for (size_t i = 0; i < l->threads.count; i++)
		free((void *)(uintptr_t)map_value(&l->threads, i));
	deferred_names_reset(&l->names);
	map_release(&l->threads);
	map_release(&l->processes);
	buf_release(&l->out);
	free(l->room);
	l->room = NULL;
}

static uint64_t flags_of(const struct late *l, int32_t pid)
{
	const uint64_t *flags = map_get_int(&l->processes, (uint64_t)pid);
	return flags ? *flags : 0;
}

static void set_flags(struct late *l, int32_t pid, uint64_t flags)
{
	uint64_t *at = map_put_int(&l->processes, (uint64_t)pid, NULL);
	if (at)
		*at = flags;
}

static void forget(struct late *l, int32_t pid, int64_t ts_ns)
{
	struct syscall_event e = { .bytes = sizeof(e), .kind = SYSCALL_FORGET, .pid = pid, .ts_ns = ts_ns };
	buf_add(&l->out, &e, sizeof(e));
}

/* An out-of-order record was not known when earlier events were emitted. */
static void take_time(struct late *l, int64_t ts_ns)
{
	if (ts_ns < l->last_ns)
		forget(l, 0, ts_ns);
	else
		l->last_ns = ts_ns;
}

static void make_opaque(struct late *l, int32_t pid, int64_t ts_ns)
{
	uint64_t flags = flags_of(l, pid);
	set_flags(l, pid, flags | IS_OPAQUE);
	if (!(flags & IS_OPAQUE))
		forget(l, pid, ts_ns);
}

void deferred_watched(struct late *l, const struct syscall_event *e)
{
	const char *text = (const char *)(e + 1);
	if (e->kind == SYSCALL_BEGIN || e->kind == SYSCALL_FORK) {
		/* their calls are reported by the ptrace process, or not at all */
		set_flags(l, e->pid, e->has_ring || e->is_foreign ? 0 : IS_WANTED);
		deferred_names_end(&l->names, e->pid, 0, e->ts_ns);
	} else if (e->kind == SYSCALL_LEAVE || e->kind == SYSCALL_END) {
		set_flags(l, e->pid, 0);
	} else if (e->kind == SYSCALL_FORGET) {
		set_flags(l, e->pid, flags_of(l, e->pid) | IS_OPAQUE);
	}
	buf_add(&l->out, e, e->bytes);
	if (e->kind == SYSCALL_FD && e->text_bytes[0] == strlen(URING) && !memcmp(text, URING, strlen(URING)))
		make_opaque(l, e->pid, e->ts_ns);
}

/* Returns the call that a thread is in, or NULL. */
static struct deferred_point **inside_of(struct late *l, int32_t tid, bool is_made)
{
	uint64_t *at = is_made ? map_put_int(&l->threads, (uint64_t)tid, NULL)
			       : map_get_int(&l->threads, (uint64_t)tid);
	return (struct deferred_point **)(void *)at;
}

void deferred_begin(struct late *l, const struct deferred_point *p)
{
	if (!(flags_of(l, p->pid) & IS_WANTED))
		return;
	take_time(l, p->ts_ns);
	deferred_names_begin(&l->names, p);
	if (deferred_makes_opaque(p))
		make_opaque(l, p->pid, p->ts_ns);
	struct deferred_point **in = inside_of(l, p->tid, true);
	if (in && !*in)
		*in = malloc(sizeof(**in));
	if (in && *in)
		**in = *p;
}

/* Returns the matching entry of an exit and removes it; NULL if it is unknown, or may be another call's. */
static const struct deferred_point *begun(struct late *l, const struct deferred_point *end,
		struct deferred_point *begin)
{
	struct deferred_point **in = inside_of(l, end->tid, false);
	if (!in || !*in || (*in)->number < 0)
		return NULL;
	*begin = **in;
	(*in)->number = -1;
	return begin->number == end->number && begin->pid == end->pid && !(l->is_untraced && begin->cpu != end->cpu)
			? begin
			: NULL;
}

void deferred_end(struct late *l, const struct deferred_point *p)
{
	struct deferred_point begin;
	deferred_names_end(&l->names, 0, p->tid, p->ts_ns);
	if (!(flags_of(l, p->pid) & IS_WANTED))
		return;
	take_time(l, p->ts_ns);
	const struct syscall_row *row = begun(l, p, &begin) ? syscall_row_of(p->number, begin.args, false) : NULL;
	if (!row)
		return;
	struct syscall_event e = { .bytes = sizeof(e),
		.kind = SYSCALL_CALL,
		.is_textless = 1,
		.pid = p->pid,
		.tid = p->tid,
		.number = (int32_t)p->number,
		.ts_ns = begin.ts_ns,
		.end_ns = p->ts_ns,
		.ret = p->ret,
		.size = -1 };
	memcpy(e.args, begin.args, sizeof(e.args));
	if (row->effect == SYSCALL_PAIRS)
		e.args[4] = e.args[5] = UINT64_MAX; /* they are in its memory */
	bool is_untraced = l->is_untraced || flags_of(l, p->pid) & IS_OPAQUE;
	if (l->is_untraced)
		forget(l, 0, p->ts_ns);
	if (!is_untraced && p->ret >= 0 && (row->effect == SYSCALL_OPENS || row->effect == SYSCALL_MAKES))
		deferred_names_want(&l->names, l->out.len, &e, row->effect == SYSCALL_OPENS);
	buf_add(&l->out, &e, sizeof(e));
}

void deferred_thread_ended(struct late *l, int32_t pid, int32_t tid, int64_t ts_ns)
{
	struct deferred_point **in = inside_of(l, tid, false);
	if (in) {
		free(*in);
		*in = NULL;
	}
	deferred_names_end(&l->names, 0, tid, ts_ns);
	deferred_names_forget(&l->names, pid);
}

void deferred_lost(struct late *l, int64_t ts_ns)
{
	for (size_t i = 0; i < l->threads.count; i++) {
		struct deferred_point *in = (struct deferred_point *)(uintptr_t)map_value(&l->threads, i);
		if (in && in->ts_ns <= ts_ns)
			in->number = -1;
	}
	deferred_names_forget(&l->names, 0);
	forget(l, 0, ts_ns);
}

void deferred_set_untraced(struct late *l, bool is_untraced)
{
	if (l->is_untraced || is_untraced)
		forget(l, 0, l->last_ns);
	l->is_untraced = is_untraced;
}

const struct syscall_event *deferred_next(struct late *l)
{
	if (l->at >= l->out.len) {
		deferred_names_reset(&l->names);
		buf_reset(&l->out);
		l->at = 0;
		return NULL;
	}
	size_t at = l->at;
	const struct syscall_event *e = (const void *)(l->out.data + at);
	l->at += e->bytes;
	return deferred_names_add(&l->names, at, e, l->room);
}
