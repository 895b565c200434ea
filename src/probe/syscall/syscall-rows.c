/* Converts events to rows; see syscall-rows.h. Descriptors and paths are in fd-table.c. */
#include "probe/syscall/syscall-rows.h"

#include "probe/syscall/fd-table.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define SLOTS 256
#define RESTART_FIRST 512 /* the kernel's internal ERESTART... */
#define RESTART_LAST 516
#define FLAG_PATH 1 /* SONDE_CALL_PATH, SONDE_CALL_PATH2 of sonde/shm.h */
#define FLAG_PATH2 2
#define VARIANTS 4 /* libc names of one call number */

static void drop_held(struct syscall_rows *r, struct rows_process *p); /* r NULL: without rows */

int syscall_rows_init(struct syscall_rows *r, struct probe_host *host)
{
	*r = (struct syscall_rows){ .host = host,
		.next_file = FILES_FIRST,
		.slots = calloc(SLOTS, sizeof(*r->slots)),
		.call_ids = calloc(SYSCALLS_MAX * VARIANTS, sizeof(*r->call_ids)) };
	return r->slots && r->call_ids ? 0 : -ENOMEM;
}

void syscall_rows_release(struct syscall_rows *r)
{
	for (size_t i = 0; r->slots && i < SLOTS; i++)
		while (r->slots[i]) {
			struct rows_process *p = r->slots[i];
			r->slots[i] = p->next;
			drop_held(NULL, p);
			files_release(&p->files);
			free(p);
		}
	free(r->slots);
	free(r->call_ids);
	r->slots = NULL;
	r->call_ids = NULL;
}

static struct rows_process **place_of(struct syscall_rows *r, int32_t pid)
{
	struct rows_process **at = &r->slots[(uint32_t)pid % SLOTS];
	while (*at && (*at)->pid != pid)
		at = &(*at)->next;
	return at;
}

static struct rows_process *get(struct syscall_rows *r, int32_t pid)
{
	struct rows_process **at = place_of(r, pid);
	if (!*at && (*at = calloc(1, sizeof(**at)))) {
		(*at)->pid = pid;
		files_init(&(*at)->files, r->host->sink, &r->next_file);
	}
	return *at;
}

/* Images. */

static void begin(struct syscall_rows *r, const struct syscall_event *e)
{
	struct rows_process *p = get(r, e->pid);
	struct probe_image image = { .pid = e->pid,
		.ts_ns = e->ts_ns,
		.exe = call_text(e, 0),
		.cwd = call_text(e, 1),
		.argv = call_text(e, 2) };
	if (!p)
		return;
	files_release(&p->files);
	files_init(&p->files, r->host->sink, &r->next_file);
	files_chdir(&p->files, &image.cwd);
	p->is_opaque = false;
	if (r->host->begin_image && !e->has_ring)
		r->host->begin_image(r->host->arg, &image);
	r->images++;
	r->foreign += e->is_foreign;
}

static void fork_image(struct syscall_rows *r, const struct syscall_event *e)
{
	struct rows_process *parent = get(r, e->parent), *p = get(r, e->pid);
	struct probe_image image = { .pid = e->pid, .parent = e->parent, .ts_ns = e->ts_ns };
	if (!parent || !p)
		return;
	files_fork(&p->files, &parent->files);
	if (r->host->begin_image)
		r->host->begin_image(r->host->arg, &image);
	r->images++;
}

static void end(struct syscall_rows *r, const struct syscall_event *e)
{
	struct rows_process **at = place_of(r, e->pid), *p = *at;
	if (r->host->end_image)
		r->host->end_image(r->host->arg, e->pid, (int)e->ret);
	if (!p)
		return;
	drop_held(r, p);
	*at = p->next;
	files_release(&p->files);
	free(p);
}

/* Calls. */

/* Applies the call's effect on descriptors; returns the file of the call. */
static int64_t apply_effect(struct call *c)
{
	struct files *f = &c->process->files;
	const struct syscall_event *e = c->event;
	struct store_text other, link = call_text(e, SYSCALL_TEXTS - 1);
	int64_t file = c->has_fd ? files_of(f, c->fd) : STORE_NULL;
	if (c->errnum)
		return file;
	switch (c->row->effect) {
	case SYSCALL_OPENS:
		c->fd = (int)e->ret;
		c->has_fd = true;
		return files_opened(f, c->fd, e->tid,
				e->is_seekable && c->fd > 2 && !(c->open_flags & (O_APPEND | O_PATH | O_DIRECTORY)));
	case SYSCALL_MAKES:
		c->fd = (int)e->ret;
		c->has_fd = true;
		return files_made(f, c->fd, &link);
	case SYSCALL_PAIRS:
		c->fd = (int)e->args[4];
		c->has_fd = true;
		other = call_text(e, 1);
		files_made(f, (int)e->args[5], &other);
		return files_made(f, c->fd, &link);
	case SYSCALL_DUPS:
	case SYSCALL_DUPS_TO:
		files_dup(f, c->fd, (int)e->ret);
		return file;
	case SYSCALL_CLOSES:
		files_closed(f, c->fd);
		return file;
	case SYSCALL_MAPS:
		if (!c->is_left_out)
			files_mapped(f, (uint64_t)e->ret, file);
		return file;
	case SYSCALL_SHARES:
		files_share(f, c->fd);
		return file;
	case SYSCALL_COPIES:
		files_share(f, (int)c->io.arg0);
		c->io.file2 = files_of(f, (int)c->io.arg0);
		return file;
	case SYSCALL_CLOSES_RANGE:
		if (!(c->io.arg2 & (int64_t)CLOSE_RANGE_CLOEXEC))
			files_closed_range(f, (uint32_t)c->io.arg0, (uint32_t)c->io.arg1);
		return file;
	default:
		return file;
	}
}

/* A pair's second descriptor is stored as an argument: after those of a socketpair, before those of a pipe. */
static void set_pair(struct call *c)
{
	int64_t flags = c->io.arg0, second = c->errnum ? -1 : (int64_t)c->event->args[5];
	second = !c->errnum && second < 0 ? STORE_NULL : second; /* not seen */
	if (c->row->effect != SYSCALL_PAIRS)
		return;
	if (c->event->number == SYS_socketpair) {
		call_add_arg(c, second);
		return;
	}
	c->io.arg0 = second;
	c->io.arg1 = c->args ? flags : STORE_NULL;
}

/* Converts paths to files; a path that opened a file becomes its name. */
static void set_paths(struct call *c, int64_t file)
{
	struct files *f = &c->process->files;
	c->io.file = file;
	if (c->has_path && c->row->effect == SYSCALL_OPENS && !c->errnum)
		files_name(f, file, c->dirfd, &c->path);
	else if (c->has_path)
		c->io.file = files_path(f, c->dirfd, &c->path);
	if (c->has_path && c->has_path2)
		c->io.file2 = files_path(f, c->dirfd2, &c->path2);
	c->io.flags = (c->has_path ? FLAG_PATH : 0) | (c->has_path && c->has_path2 ? FLAG_PATH2 : 0);
	if (c->has_text)
		c->io.text = &c->text;
	if (c->row->effect == SYSCALL_CHDIRS && !c->errnum) {
		struct store_text to = call_text(c->event, SYSCALL_TEXTS - 1);
		char *joined = to.data ? NULL
				       : files_whole(f, c->has_path ? c->dirfd : c->fd, c->has_path ? &c->path : NULL);
		if (joined)
			to = (struct store_text){ .data = joined, .bytes = strlen(joined) };
		files_chdir(f, &to); /* its path was relative to the old directory */
		free(joined);
	}
}

/* Returns the id of the name; looked up once for each of the names of a number. */
static int64_t call_id(struct syscall_rows *r, const struct call *c)
{
	int64_t *id = &r->call_ids[(unsigned)c->event->number * VARIANTS + c->row->variant % VARIANTS];
	if (!*id)
		*id = r->host->call_id ? r->host->call_id(r->host->arg, c->row->name)
				       : store_strings_of(&r->host->sink->strings, c->row->name);
	return *id;
}

/* Anonymous memory is not recorded, as in the tracer. */
static bool is_about_nothing(struct call *c)
{
	if (c->row->effect == SYSCALL_MAPS)
		return c->event->args[3] & MAP_ANONYMOUS;
	if (c->row->effect != SYSCALL_UNMAPS)
		return false;
	c->io.file = files_unmapped(&c->process->files, c->event->args[0], !c->event->ret);
	return c->io.file == STORE_NULL;
}

static void emit_call(struct syscall_rows *r, const struct syscall_event *e, int64_t ts_ns)
{
	struct store_text path = call_text(e, 0);
	struct call c = { .event = e,
		.row = syscall_row_of(e->number, e->args, path.data && !path.bytes),
		.process = get(r, e->pid),
		.io = store_io_nulls };
	if (!c.row || !c.process)
		return;
	if (c.process->is_opaque)
		files_forget(&c.process->files);
	call_result(&c);
	call_arguments(&c);
	if (is_about_nothing(&c))
		return;
	c.io.ts_ns = ts_ns;
	c.io.dur_ns = e->end_ns - ts_ns;
	c.is_left_out = call_is_unwanted(&c, &r->host->options); /* before a close removes the file */
	struct files *f = &c.process->files;
	bool is_copy = c.row->effect == SYSCALL_COPIES;
	if (c.row->effect == SYSCALL_MOVES || (is_copy && !c.event->args[c.event->number == SYS_sendfile ? 2 : 1]))
		c.io.offset = files_advance(f, c.fd, c.event->tid, c.io.ret);
	if (c.row->effect == SYSCALL_SEEKS)
		files_seek(f, c.fd, c.event->tid, c.io.ret);
	int64_t file = apply_effect(&c);
	set_paths(&c, c.row->effect == SYSCALL_UNMAPS ? c.io.file : file);
	set_pair(&c);
	int64_t id = call_id(r, &c);
	if (c.is_left_out || id == STORE_NULL) {
		r->filtered++;
		return;
	}
	c.io.process = probe_process(r->host, e->pid, ts_ns);
	c.io.pid = e->pid;
	c.io.tid = e->tid;
	c.io.call = id;
	c.io.fd = c.has_fd && c.fd >= 0 ? c.fd : STORE_NULL;
	store_sink_add(r->host->sink, STORE_TABLE_IO, &c.io);
	if (r->host->count_call)
		r->host->count_call(r->host->arg, &c.io);
	r->rows++;
	r->unnamed += !c.has_path && strchr(c.row->letters, 'p');
}

/* Interrupted calls: the kernel restarts them, or they fail with EINTR. The thread's next call shows which. */

struct held {
	struct held *next;
	struct syscall_event event;
};

static void hold(struct rows_process *p, const struct syscall_event *e, int64_t ts_ns)
{
	size_t bytes = sizeof(*e);
	for (int i = 0; i < SYSCALL_TEXTS; i++)
		bytes += e->text_bytes[i];
	struct held *h = malloc(offsetof(struct held, event) + bytes);
	if (!h)
		return;
	memcpy(&h->event, e, bytes);
	h->event.ts_ns = ts_ns;
	h->next = p->held;
	p->held = h;
}

/* Returns the start time of the call: for a restarted one that of the interrupted call. */
static int64_t resume_held(struct syscall_rows *r, struct rows_process *p, const struct syscall_event *e)
{
	struct held **at = &p->held;
	int64_t ts_ns = e->ts_ns;
	while (*at && (*at)->event.tid != e->tid)
		at = &(*at)->next;
	struct held *h = *at;
	if (!h)
		return ts_ns;
	*at = h->next;
	if (h->event.number == e->number && !memcmp(h->event.args, e->args, sizeof(e->args))) {
		ts_ns = h->event.ts_ns;
	} else {
		h->event.ret = -EINTR;
		emit_call(r, &h->event, h->event.ts_ns);
	}
	free(h);
	return ts_ns;
}

static void drop_held(struct syscall_rows *r, struct rows_process *p)
{
	while (p->held) {
		struct held *h = p->held;
		p->held = h->next;
		h->event.ret = -EINTR;
		if (r)
			emit_call(r, &h->event, h->event.ts_ns);
		free(h);
	}
}

static void forget(struct syscall_rows *r, int32_t pid)
{
	struct rows_process *p = pid ? get(r, pid) : NULL;
	if (p)
		p->is_opaque = true;
	for (size_t i = 0; !pid && i < SLOTS; i++)
		for (p = r->slots[i]; p; p = p->next)
			files_forget(&p->files);
}

static void on_call(struct syscall_rows *r, const struct syscall_event *e)
{
	struct rows_process *p = get(r, e->pid);
	if (!p)
		return;
	int64_t ts_ns = resume_held(r, p, e);
	if (e->ret <= -RESTART_FIRST && e->ret >= -RESTART_LAST)
		hold(p, e, ts_ns);
	else
		emit_call(r, e, ts_ns);
}

void syscall_rows_add(struct syscall_rows *r, const struct syscall_event *e)
{
	struct store_text text;
	struct rows_process *p;
	switch ((enum syscall_event_kind)e->kind) {
	case SYSCALL_CALL:
		on_call(r, e);
		break;
	case SYSCALL_BEGIN:
		begin(r, e);
		break;
	case SYSCALL_FORK:
		fork_image(r, e);
		break;
	case SYSCALL_FD:
		text = call_text(e, 0);
		p = get(r, e->pid);
		if (p && text.data)
			files_made(&p->files, (int)e->ret, &text);
		break;
	case SYSCALL_END:
		end(r, e);
		break;
	case SYSCALL_FORGET:
		forget(r, e->pid);
		break;
	case SYSCALL_LEAVE:
		break;
	}
}
