/* watch: the watcher's life, in a process of its own; see watcher.h. */
#ifndef SONDE_PROBE_SYSCALL_WATCH_H
#define SONDE_PROBE_SYSCALL_WATCH_H

#include "probe/syscall/event.h"
#include "probe/syscall/table.h"
#include "probe/syscall/watcher.h"

#include <stddef.h>

/* Attach, say so by a byte, and write events to `to` until nobody is left to watch or SIGTERM comes. */
void watch(int to, const struct watcher_options *o);

/* capture.c: what a call has in its memory. */
struct call_texts {
	char *at[SYSCALL_TEXTS]; /* room for SYSCALL_TEXT_MAX each, made at need */
	size_t bytes[SYSCALL_TEXTS];
	bool has[SYSCALL_TEXTS];
	int64_t size; /* of a vector; -1 none */
};
void texts_release(struct call_texts *t);
void texts_forget(struct call_texts *t);
/* Bytes up to `n` from the process's memory; how many there were. */
size_t texts_peek(pid_t tid, uint64_t from, void *to, size_t n);
/* A string, as text i; false: it cannot be read. */
bool texts_string(struct call_texts *t, unsigned i, pid_t tid, uint64_t from);
void texts_link(struct call_texts *t, unsigned i, pid_t tid, const char *what, int64_t fd);
/* What the letters of the row name. */
void texts_of_call(struct call_texts *t, pid_t tid, const struct syscall_row *row, const uint64_t args[6]);

#endif
