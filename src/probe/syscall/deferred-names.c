#include "probe/syscall/deferred-names.h"

#include "probe/syscall/syscall-table.h"

#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define MEMORY_MAJOR 1 /* /dev/null and the like, which are seekable */
#define DELETED " (deleted)"

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

bool deferred_names_take(int64_t number)
{
	return taking_of(number) != TAKES_NOTHING;
}

bool deferred_makes_opaque(const struct deferred_point *p)
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

void deferred_names_end(struct deferred_names *n, int32_t pid, int32_t tid, int64_t ts_ns)
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

void deferred_names_begin(struct deferred_names *n, const struct deferred_point *p)
{
	struct deferred_closing c;
	deferred_names_end(n, 0, p->tid, p->ts_ns);
	if (!closing_of(p, &c))
		return;
	drop(n, &c);
	if (n->closing_count < DEFERRED_CLOSINGS)
		n->closings[n->closing_count++] = c;
	else
		n->is_crowded = true;
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

void deferred_names_want(struct deferred_names *n, size_t at, const struct syscall_event *e, bool is_path)
{
	if (n->count < DEFERRED_NAMES && !is_taken(n, e))
		n->looks[n->count++] = (struct deferred_name){ .at = at,
			.pid = e->pid,
			.fd = (int)e->ret,
			.is_path = is_path };
}

static bool can_be_sought(const struct stat *st)
{
	return S_ISREG(st->st_mode) || S_ISBLK(st->st_mode) ||
			(S_ISCHR(st->st_mode) && major(st->st_rdev) == MEMORY_MAJOR);
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
	k->is_seekable = can_be_sought(&st);
	k->text = strdup(text);
}

bool deferred_names_read(struct deferred_names *n)
{
	for (size_t i = 0; i < n->count; i++)
		read_one(&n->looks[i]);
	return n->count > 0;
}

void deferred_names_reset(struct deferred_names *n)
{
	for (size_t i = 0; i < n->count; i++)
		free(n->looks[i].text);
	n->count = n->next = 0;
}

const struct syscall_event *deferred_names_add(struct deferred_names *n, size_t at, const struct syscall_event *e,
		struct syscall_event *room)
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
