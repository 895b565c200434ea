/* Sends events from the ptrace process to the recorder; see ptrace-private.h. */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "probe/syscall/ptrace-private.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096
#define VECTOR_MAX 1024
#define BUFFERED_MAX 32768
#define BUFFERED_US 10000
#define ARGUMENTS_MAX 4000

/* The memory that the arguments of a call point to. */

void texts_release(struct call_texts *t)
{
	for (int i = 0; i < SYSCALL_TEXTS; i++)
		free(t->at[i]);
	*t = (struct call_texts){ .size = -1 };
}

static void texts_forget(struct call_texts *t)
{
	memset(t->has, 0, sizeof(t->has));
	memset(t->bytes, 0, sizeof(t->bytes));
	t->size = -1;
}

size_t texts_peek(pid_t tid, uint64_t from, void *to, size_t n)
{
	size_t first = PAGE - (size_t)(from & (PAGE - 1));
	struct iovec local = { .iov_base = to, .iov_len = n };
	struct iovec remote[2] = { { .iov_base = (void *)(uintptr_t)from, .iov_len = first < n ? first : n },
		{ .iov_base = (void *)(uintptr_t)(from + first), .iov_len = first < n ? n - first : 0 } };
	ssize_t got = process_vm_readv(tid, &local, 1, remote, 2, 0);
	return got < 0 ? 0 : (size_t)got;
}

static char *room_of(struct call_texts *t, unsigned i)
{
	if (!t->at[i])
		t->at[i] = malloc(SYSCALL_TEXT_MAX);
	return t->at[i];
}

/* Reads a string as text i; false if it cannot be read. */
static bool texts_string(struct call_texts *t, unsigned i, pid_t tid, uint64_t from)
{
	char *room = from ? room_of(t, i) : NULL;
	size_t n = room ? texts_peek(tid, from, room, SYSCALL_TEXT_MAX) : 0;
	const char *end = n ? memchr(room, '\0', n) : NULL;
	t->has[i] = n > 0;
	t->bytes[i] = end ? (size_t)(end - room) : n;
	return t->has[i];
}

static void texts_link(struct call_texts *t, unsigned i, pid_t tid, const char *what, int64_t fd)
{
	char path[64], *room = room_of(t, i);
	if (fd >= 0)
		snprintf(path, sizeof(path), "/proc/%d/%s/%lld", (int)tid, what, (long long)fd);
	else
		snprintf(path, sizeof(path), "/proc/%d/%s", (int)tid, what);
	ssize_t n = room ? readlink(path, room, SYSCALL_TEXT_MAX) : -1;
	t->has[i] = n > 0;
	t->bytes[i] = n > 0 ? (size_t)n : 0;
}

static int64_t vector_bytes(pid_t tid, uint64_t from, uint64_t count)
{
	struct iovec v[VECTOR_MAX];
	int64_t sum = 0;
	if (count > VECTOR_MAX)
		return -1;
	/* one read covers at most two pages */
	for (size_t at = 0, n; at < count * sizeof(*v); at += n) {
		size_t part = count * sizeof(*v) - at < PAGE ? count * sizeof(*v) - at : PAGE;
		n = texts_peek(tid, from + at, (char *)v + at, part);
		if (n != part)
			return -1;
	}
	for (uint64_t i = 0; i < count; i++)
		sum += (int64_t)v[i].iov_len;
	return sum;
}

static void read_address(struct call_texts *t, unsigned i, pid_t tid, uint64_t from, uint64_t bytes)
{
	char *room = room_of(t, i);
	size_t n = bytes < sizeof(struct sockaddr_storage) ? (size_t)bytes : sizeof(struct sockaddr_storage);
	t->bytes[i] = room ? texts_peek(tid, from, room, n) : 0;
	t->has[i] = t->bytes[i] > 0;
}

void texts_of_call(struct call_texts *t, pid_t tid, const struct syscall_row *row, const uint64_t args[6])
{
	unsigned n = 0;
	texts_forget(t);
	for (unsigned i = 0; row->letters[i]; i++) {
		if (strchr("pPt", row->letters[i]))
			texts_string(t, n++, tid, args[i]);
		else if (i < 5 && row->letters[i] == 'v')
			t->size = vector_bytes(tid, args[i], args[i + 1]);
		else if (i < 5 && row->letters[i] == 'n')
			read_address(t, n++, tid, args[i], args[i + 1]);
	}
}

/* Events. */

volatile sig_atomic_t flush_is_due;

void flush_events(struct watch *w)
{
	if (w->out.len && fs_write_all(w->to, w->out.data, w->out.len))
		w->is_deaf = true; /* the reader has closed the pipe */
	buf_reset(&w->out);
	flush_is_due = 0;
}

void send_event(struct watch *w, struct syscall_event *e, const struct call_texts *t)
{
	static const char zeros[8];
	size_t bytes = sizeof(*e);
	for (int i = 0; t && i < SYSCALL_TEXTS; i++) {
		e->has_text[i] = t->has[i];
		e->text_bytes[i] = (uint16_t)t->bytes[i];
		bytes += t->bytes[i];
	}
	if (!w->out.len) {
		/* Events are buffered for a short time: the alarm interrupts the wait for the next one. */
		struct itimerval interval = { .it_value = { .tv_usec = BUFFERED_US } };
		setitimer(ITIMER_REAL, &interval, NULL);
	}
	e->bytes = (uint32_t)((bytes + 7) & ~(size_t)7);
	buf_add(&w->out, e, sizeof(*e));
	for (int i = 0; t && i < SYSCALL_TEXTS; i++)
		buf_add(&w->out, t->at[i] ? t->at[i] : zeros, t->bytes[i]);
	buf_add(&w->out, zeros, e->bytes - bytes);
	if (w->out.len > BUFFERED_MAX)
		flush_events(w);
}

void send_kind(struct watch *w, enum syscall_event_kind kind, pid_t pid)
{
	struct syscall_event e = { .kind = (uint16_t)kind, .pid = pid, .tid = pid, .ts_ns = clock_mono_ns() };
	send_event(w, &e, NULL);
}

static bool is_seekable(pid_t tid, int64_t fd)
{
	char path[64];
	struct stat st;
	snprintf(path, sizeof(path), "/proc/%d/fd/%lld", (int)tid, (long long)fd);
	return !stat(path, &st) && syscall_is_seekable(st.st_mode, major(st.st_rdev));
}

void send_call(struct watch *w, struct tracee *k, int64_t ret, int64_t end_ns)
{
	struct syscall_event e = { .kind = SYSCALL_CALL,
		.pid = k->pid,
		.tid = k->tid,
		.number = (int32_t)k->number,
		.ts_ns = k->ts_ns,
		.end_ns = end_ns,
		.ret = ret };
	memcpy(e.args, k->args, sizeof(e.args));
	if (e.ret >= 0 && k->row) {
		if (k->row->effect == SYSCALL_OPENS)
			e.is_seekable = is_seekable(k->tid, e.ret);
		if (k->row->effect == SYSCALL_MAKES)
			texts_link(&k->texts, SYSCALL_TEXTS - 1, k->tid, "fd", e.ret);
		if (k->row->effect == SYSCALL_CHDIRS)
			texts_link(&k->texts, SYSCALL_TEXTS - 1, k->tid, "cwd", -1);
		if (k->row->effect == SYSCALL_PAIRS) {
			int32_t ends[2] = { -1, -1 };
			texts_peek(k->tid, e.args[e.number == SYS_socketpair ? 3 : 0], ends, sizeof(ends));
			e.args[4] = (uint64_t)(int64_t)ends[0];
			e.args[5] = (uint64_t)(int64_t)ends[1];
			texts_link(&k->texts, SYSCALL_TEXTS - 1, k->tid, "fd", ends[0]);
			texts_link(&k->texts, 1, k->tid, "fd", ends[1]);
		}
	}
	e.size = k->texts.size;
	send_event(w, &e, &k->texts);
}

static void send_descriptors(struct watch *w, struct tracee *k, int64_t ts_ns)
{
	char path[48];
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)k->pid);
	CLEANUP(cleanup_dir) DIR *dir = opendir(path);
	for (struct dirent *d; dir && (d = readdir(dir));) {
		if (d->d_name[0] == '.')
			continue;
		struct syscall_event e = { .kind = SYSCALL_FD, .pid = k->pid, .tid = k->pid, .ts_ns = ts_ns };
		e.ret = strtol(d->d_name, NULL, 10);
		texts_forget(&k->texts);
		texts_link(&k->texts, 0, k->pid, "fd", e.ret);
		send_event(w, &e, &k->texts);
	}
}

/* A process that the tracer does not record. */
void send_start(struct watch *w, struct tracee *k, bool has_ring)
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
	/* The arguments, from the memory that the exec has just set up. */
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char path[48];
	snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)k->pid);
	if (!fs_read_file(AT_FDCWD, path, (size_t)1 << 22, &text, NULL) && k->texts.at[0]) {
		char *room = k->texts.at[2] ? k->texts.at[2] : (k->texts.at[2] = malloc(SYSCALL_TEXT_MAX));
		k->texts.bytes[2] = !room ? 0 : text.len < ARGUMENTS_MAX ? text.len : ARGUMENTS_MAX;
		if (room)
			memcpy(room, text.data, k->texts.bytes[2]);
		k->texts.has[2] = room != NULL;
	}
	send_event(w, &e, &k->texts);
	send_descriptors(w, k, e.ts_ns);
	texts_forget(&k->texts);
}
