/* Sends events from the ptrace process to the recorder; see ptrace-loop.h. */
#include "probe/syscall/ptrace-loop.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>

#define BUFFERED_MAX 32768
#define BUFFERED_US 10000
#define ARGUMENTS_MAX 4000
#define MEMORY_MAJOR 1 /* /dev/null and the like, which are seekable */

volatile sig_atomic_t tell_is_due;

void tell_flush(struct watch *w)
{
	if (w->out.len && fs_write_all(w->to, w->out.data, w->out.len))
		w->is_deaf = true; /* the reader has closed the pipe */
	buf_reset(&w->out);
	tell_is_due = 0;
}

/* Events are buffered for a short time: the alarm interrupts the wait for the next one. */
static void set_alarm(void)
{
	struct itimerval t = { .it_value = { .tv_usec = BUFFERED_US } };
	setitimer(ITIMER_REAL, &t, NULL);
}

void tell(struct watch *w, struct syscall_event *e, const struct call_texts *t)
{
	static const char zeros[8];
	size_t bytes = sizeof(*e);
	for (int i = 0; t && i < SYSCALL_TEXTS; i++) {
		e->has_text[i] = t->has[i];
		e->text_bytes[i] = (uint16_t)t->bytes[i];
		bytes += t->bytes[i];
	}
	if (!w->out.len)
		set_alarm();
	e->bytes = (uint32_t)((bytes + 7) & ~(size_t)7);
	buf_add(&w->out, e, sizeof(*e));
	for (int i = 0; t && i < SYSCALL_TEXTS; i++)
		buf_add(&w->out, t->at[i] ? t->at[i] : zeros, t->bytes[i]);
	buf_add(&w->out, zeros, e->bytes - bytes);
	if (w->out.len > BUFFERED_MAX)
		tell_flush(w);
}

void tell_of(struct watch *w, enum syscall_event_kind kind, pid_t pid)
{
	struct syscall_event e = { .kind = (uint16_t)kind, .pid = pid, .tid = pid, .ts_ns = clock_mono_ns() };
	tell(w, &e, NULL);
}

static bool is_seekable(pid_t tid, int64_t fd)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/%d/fd/%lld", (int)tid, (long long)fd);
	return !stat(path, &st) &&
			(S_ISREG(st.st_mode) || S_ISBLK(st.st_mode) ||
					(S_ISCHR(st.st_mode) && major(st.st_rdev) == MEMORY_MAJOR));
}

static void add_result(struct tracee *k, struct syscall_event *e)
{
	if (e->ret < 0 || !k->row)
		return;
	if (k->row->effect == SYSCALL_OPENS)
		e->is_seekable = is_seekable(k->tid, e->ret);
	if (k->row->effect == SYSCALL_MAKES)
		texts_link(&k->texts, SYSCALL_TEXTS - 1, k->tid, "fd", e->ret);
	if (k->row->effect == SYSCALL_CHDIRS)
		texts_link(&k->texts, SYSCALL_TEXTS - 1, k->tid, "cwd", -1);
	if (k->row->effect == SYSCALL_PAIRS) {
		int32_t ends[2] = { -1, -1 };
		texts_peek(k->tid, e->args[e->number == SYS_socketpair ? 3 : 0], ends, sizeof(ends));
		e->args[4] = (uint64_t)(int64_t)ends[0];
		e->args[5] = (uint64_t)(int64_t)ends[1];
		texts_link(&k->texts, SYSCALL_TEXTS - 1, k->tid, "fd", ends[0]);
		texts_link(&k->texts, 1, k->tid, "fd", ends[1]);
	}
}

void tell_call(struct watch *w, struct tracee *k, int64_t ret, int64_t end_ns)
{
	struct syscall_event e = { .kind = SYSCALL_CALL,
		.pid = k->pid,
		.tid = k->tid,
		.number = (int32_t)k->number,
		.ts_ns = k->ts_ns,
		.end_ns = end_ns,
		.ret = ret };
	memcpy(e.args, k->args, sizeof(e.args));
	add_result(k, &e);
	e.size = k->texts.size;
	tell(w, &e, &k->texts);
}

static void tell_descriptors(struct watch *w, struct tracee *k, int64_t ts_ns)
{
	char path[48];
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)k->pid);
	DIR *dir = opendir(path);
	for (struct dirent *d; dir && (d = readdir(dir));) {
		if (d->d_name[0] == '.')
			continue;
		struct syscall_event e = { .kind = SYSCALL_FD, .pid = k->pid, .tid = k->pid, .ts_ns = ts_ns };
		e.ret = strtol(d->d_name, NULL, 10);
		texts_forget(&k->texts);
		texts_link(&k->texts, 0, k->pid, "fd", e.ret);
		tell(w, &e, &k->texts);
	}
	if (dir)
		closedir(dir);
}

static void take_arguments(struct tracee *k)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char path[48];
	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)k->pid);
	if (fs_read_file(AT_FDCWD, path, (size_t)1 << 22, &text, NULL) || !k->texts.at[0])
		return;
	char *room = k->texts.at[2] ? k->texts.at[2] : (k->texts.at[2] = malloc(SYSCALL_TEXT_MAX));
	k->texts.bytes[2] = !room ? 0 : text.len < ARGUMENTS_MAX ? text.len : ARGUMENTS_MAX;
	if (room)
		memcpy(room, text.data, k->texts.bytes[2]);
	k->texts.has[2] = room != NULL;
}

/* A process that the tracer does not record. */
void tell_begin(struct watch *w, struct tracee *k, bool has_ring)
{
	struct syscall_event e = { .kind = SYSCALL_BEGIN,
		.pid = k->pid,
		.tid = k->pid,
		.has_ring = has_ring,
		.is_foreign = k->is_foreign,
		.ts_ns = clock_mono_ns() };
	texts_forget(&k->texts);
	texts_link(&k->texts, 0, k->pid, "exe", -1);
	texts_link(&k->texts, 1, k->pid, "cwd", -1);
	take_arguments(k);
	tell(w, &e, &k->texts);
	tell_descriptors(w, k, e.ts_ns);
	texts_forget(&k->texts);
}
