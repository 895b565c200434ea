#include "probe/syscall/deferred-calls.h"

#include "probe/syscall/syscall-table.h"

#include <errno.h>
#include <linux/close_range.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define DELETED " (deleted)"
#define URING "anon_inode:[io_uring]"
#define IS_WANTED 1u
#define IS_OPAQUE 2u /* its descriptors change without a visible call */

enum taking { TAKES_NOTHING, TAKES_FIRST, TAKES_SECOND, TAKES_RANGE, TAKES_ALL, TAKES_NAMES };

/* The link of a renamed file has its new name, not the one it was opened by. */
static enum taking taking_of(int64_t number)
{
	switch (number >= 0 && number < SYSCALLS_MAX ? syscall_rows[number].effect : SYSCALL_NOTHING) {
	case SYSCALL_CLOSES:
		return TAKES_FIRST;
	case SYSCALL_DUPS_TO:
		return TAKES_SECOND;
	case SYSCALL_CLOSES_RANGE:
		return TAKES_RANGE;
	case SYSCALL_RENAMES:
		return TAKES_NAMES;
	case SYSCALL_REPLACES:
	case SYSCALL_QUEUES:
		return TAKES_ALL;
	default:
		return TAKES_NOTHING;
	}
}

bool deferred_is_closing(int64_t number)
{
	return taking_of(number) != TAKES_NOTHING;
}

/* Does it cause descriptors to be closed without a call, or to differ between threads? */
static bool deferred_makes_opaque(const struct deferred_point *p)
{
	bool is_known = p->number >= 0 && p->number < SYSCALLS_MAX;
	return (is_known && syscall_rows[p->number].effect == SYSCALL_QUEUES) ||
			(p->number == SYS_unshare && p->args[0] & CLONE_FILES) ||
			(p->number == SYS_close_range && p->args[2] & CLOSE_RANGE_UNSHARE);
}

static bool closing_of(const struct deferred_point *p, struct deferred_closing *c)
{
	enum taking taking = taking_of(p->number);
	*c = (struct deferred_closing){ .pid = taking == TAKES_NAMES ? 0 : p->pid, .tid = p->tid, .last = UINT32_MAX };
	if (taking == TAKES_FIRST || taking == TAKES_SECOND)
		c->first = c->last = (uint32_t)p->args[taking == TAKES_SECOND];
	if (taking == TAKES_RANGE) {
		c->first = (uint32_t)p->args[0];
		c->last = (uint32_t)p->args[1];
	}
	return taking != TAKES_NOTHING;
}

static bool takes(const struct deferred_closing *c, int32_t pid, int fd)
{
	return (!c->pid || c->pid == pid) && (uint32_t)fd >= c->first && (uint32_t)fd <= c->last;
}

static void drop(struct deferred_names *n, const struct deferred_closing *c)
{
	size_t kept = 0;
	for (size_t i = 0; i < n->count; i++) {
		struct deferred_name *k = &n->looks[i];
		if (takes(c, k->pid, k->fd)) {
			n->dropped += k->text != NULL;
			free(k->text);
		} else {
			n->looks[kept++] = *k;
		}
	}
	n->count = kept;
}

void deferred_names_forget(struct deferred_names *n, int32_t pid)
{
	const struct deferred_closing all = { .pid = pid, .last = UINT32_MAX };
	drop(n, &all);
}

void deferred_names_on_seen(struct deferred_names *n, const struct deferred_point *p)
{
	struct deferred_closing c;
	if (closing_of(p, &c))
		drop(n, &c);
}

/* Such calls of the process (or 0) or of the thread have returned. */
static void deferred_names_finish(struct deferred_names *n, int32_t pid, int32_t tid, int64_t ts_ns)
{
	for (size_t i = 0; i < n->closing_count;) {
		struct deferred_closing *c = &n->closings[i];
		if ((!tid || c->tid != tid) && (!pid || c->pid != pid)) {
			i++;
			continue;
		}
		c->end_ns = ts_ns;
		n->ended[n->ended_count++ % DEFERRED_CLOSINGS] = *c;
		*c = n->closings[--n->closing_count];
	}
	n->is_crowded &= n->closing_count > 0;
}

/* Is it being closed, or was it closed after the call that created it started, and so perhaps after it was created? */
static bool is_taken(const struct deferred_names *n, const struct syscall_event *e)
{
	bool is = n->is_crowded;
	for (size_t i = 0; i < n->closing_count; i++)
		is |= takes(&n->closings[i], e->pid, (int)e->ret);
	for (size_t i = 0; i < n->ended_count && i < DEFERRED_CLOSINGS; i++)
		is |= n->ended[i].end_ns >= e->ts_ns && takes(&n->ended[i], e->pid, (int)e->ret);
	/* older entries may have been overwritten */
	return is ||
			(n->ended_count > DEFERRED_CLOSINGS &&
					n->ended[n->ended_count % DEFERRED_CLOSINGS].end_ns >= e->ts_ns);
}

/* The kernel appends a suffix to the last name of a deleted file. */
static bool trim_deleted(char *text, const struct stat *st)
{
	size_t n = strlen(text), tail = strlen(DELETED);
	if (n <= tail || strcmp(text + n - tail, DELETED) != 0)
		return true;
	text[n - tail] = '\0';
	return !st->st_nlink;
}

static void read_one(struct deferred_name *k)
{
	char path[64], text[SYSCALL_TEXT_MAX];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", k->pid, k->fd);
	ssize_t n = readlink(path, text, sizeof(text) - 1);
	if (n <= 0 || stat(path, &st))
		return;
	text[n] = '\0';
	if (k->is_path && (*text != '/' || !trim_deleted(text, &st)))
		return;
	k->is_seekable = syscall_is_seekable(st.st_mode, major(st.st_rdev));
	k->text = strdup(text);
}

bool deferred_names_read(struct deferred_names *n)
{
	for (size_t i = 0; i < n->count; i++)
		read_one(&n->looks[i]);
	return n->count > 0;
}

/* Drops all names, for the next events. */
static void deferred_names_reset(struct deferred_names *n)
{
	for (size_t i = 0; i < n->count; i++)
		free(n->looks[i].text);
	n->count = n->next = 0;
}

/* Returns the event at `at` with its name, in `room`; unchanged if it has none. */
static const struct syscall_event *deferred_names_add(struct deferred_names *n, size_t at,
		const struct syscall_event *e, struct syscall_event *room)
{
	struct deferred_name *k = n->next < n->count ? &n->looks[n->next] : NULL;
	if (!k || k->at != at)
		return e;
	n->next++;
	if (!k->text)
		return e;
	unsigned i = k->is_path ? 0 : SYSCALL_TEXTS - 1; /* the path that opened it, or its link */
	*room = *e;
	room->is_seekable = k->is_seekable;
	room->has_text[i] = 1;
	room->text_bytes[i] = (uint16_t)strlen(k->text);
	memcpy(room + 1, k->text, room->text_bytes[i]);
	n->told++;
	return room;
}

/* Flags of a process. */

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
static void advance_time(struct late *l, int64_t ts_ns)
{
	if (ts_ns < l->last_ns)
		forget(l, 0, ts_ns);
	else
		l->last_ns = ts_ns;
}

static void set_opaque(struct late *l, int32_t pid, int64_t ts_ns)
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
		deferred_names_finish(&l->names, e->pid, 0, e->ts_ns);
	} else if (e->kind == SYSCALL_LEAVE || e->kind == SYSCALL_END) {
		set_flags(l, e->pid, 0);
	} else if (e->kind == SYSCALL_FORGET) {
		set_flags(l, e->pid, flags_of(l, e->pid) | IS_OPAQUE);
	}
	buf_add(&l->out, e, e->bytes);
	if (e->kind == SYSCALL_FD && e->text_bytes[0] == strlen(URING) && !memcmp(text, URING, strlen(URING)))
		set_opaque(l, e->pid, e->ts_ns);
}

/* Returns the call that a thread is in, or NULL. */
static struct deferred_point **inside_of(struct late *l, int32_t tid, bool is_made)
{
	uint64_t *at = is_made ? map_put_int(&l->threads, (uint64_t)tid, NULL)
			       : map_get_int(&l->threads, (uint64_t)tid);
	return (struct deferred_point **)(void *)at;
}

void deferred_on_enter(struct late *l, const struct deferred_point *p)
{
	if (!(flags_of(l, p->pid) & IS_WANTED))
		return;
	advance_time(l, p->ts_ns);
	/* It may close descriptors whose names are still to be read. */
	struct deferred_closing c;
	deferred_names_finish(&l->names, 0, p->tid, p->ts_ns);
	if (closing_of(p, &c)) {
		drop(&l->names, &c);
		if (l->names.closing_count < DEFERRED_CLOSINGS)
			l->names.closings[l->names.closing_count++] = c;
		else
			l->names.is_crowded = true;
	}
	if (deferred_makes_opaque(p))
		set_opaque(l, p->pid, p->ts_ns);
	struct deferred_point **in = inside_of(l, p->tid, true);
	if (in && !*in)
		*in = malloc(sizeof(**in));
	if (in && *in)
		**in = *p;
}

/* Returns the matching entry of an exit and removes it; NULL if it is unknown, or may be another call's. */
static const struct deferred_point *entry_of(struct late *l, const struct deferred_point *end,
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

void deferred_on_exit(struct late *l, const struct deferred_point *p)
{
	struct deferred_point begin;
	deferred_names_finish(&l->names, 0, p->tid, p->ts_ns);
	if (!(flags_of(l, p->pid) & IS_WANTED))
		return;
	advance_time(l, p->ts_ns);
	const struct syscall_row *row = entry_of(l, p, &begin) ? syscall_row_of(p->number, begin.args, false) : NULL;
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
	if (!is_untraced && p->ret >= 0 && (row->effect == SYSCALL_OPENS || row->effect == SYSCALL_MAKES)) {
		/* The name of its new descriptor is read later, unless another call is closing it. */
		bool is_path = row->effect == SYSCALL_OPENS;
		if (l->names.count < DEFERRED_NAMES && !is_taken(&l->names, &e))
			l->names.looks[l->names.count++] = (struct deferred_name){ .at = l->out.len,
				.pid = e.pid,
				.fd = (int)e.ret,
				.is_path = is_path };
	}
	buf_add(&l->out, &e, sizeof(e));
}

void deferred_thread_ended(struct late *l, int32_t pid, int32_t tid, int64_t ts_ns)
{
	struct deferred_point **in = inside_of(l, tid, false);
	if (in) {
		free(*in);
		*in = NULL;
	}
	deferred_names_finish(&l->names, 0, tid, ts_ns);
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
