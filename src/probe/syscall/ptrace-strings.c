/* Reads strings, vectors and addresses from a stopped program's memory; see ptrace-loop.h. */
#include "probe/syscall/ptrace-loop.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define PAGE 4096
#define VECTOR_MAX 1024

void texts_release(struct call_texts *t)
{
	for (int i = 0; i < SYSCALL_TEXTS; i++)
		free(t->at[i]);
	*t = (struct call_texts){ .size = -1 };
}

void texts_forget(struct call_texts *t)
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

bool texts_string(struct call_texts *t, unsigned i, pid_t tid, uint64_t from)
{
	char *room = from ? room_of(t, i) : NULL;
	size_t n = room ? texts_peek(tid, from, room, SYSCALL_TEXT_MAX) : 0;
	const char *end = n ? memchr(room, '\0', n) : NULL;
	t->has[i] = n > 0;
	t->bytes[i] = end ? (size_t)(end - room) : n;
	return t->has[i];
}

void texts_link(struct call_texts *t, unsigned i, pid_t tid, const char *what, int64_t fd)
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

static void take_address(struct call_texts *t, unsigned i, pid_t tid, uint64_t from, uint64_t bytes)
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
			take_address(t, n++, tid, args[i], args[i + 1]);
	}
}
