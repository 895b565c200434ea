/* watch: the watcher's life, in a process of its own; see ptrace-process.h. */
#ifndef SONDE_PROBE_SYSCALL_PTRACE_LOOP_H
#define SONDE_PROBE_SYSCALL_PTRACE_LOOP_H

#include "base/buf.h"
#include "probe/syscall/event.h"
#include "probe/syscall/ptrace-process.h"
#include "probe/syscall/syscall-table.h"

#include <signal.h>
#include <stddef.h>

/* Attach, say so by a byte, and write events to `to` until nobody is left to watch or SIGTERM comes. */
void watch(int to, const struct watcher_options *o);

/* ptrace-strings.c: what a call has in its memory. */
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

#define WATCH_SLOTS 1024

struct tracee {
	struct tracee *next; /* in its slot */
	pid_t tid, pid;
	bool is_reported;   /* its fork was seen: until then it waits */
	bool is_seen;       /* its calls are wanted */
	bool is_stopped_at; /* by stops at each of them */
	bool has_ring;      /* the tracer is in its image, too */
	bool is_foreign;    /* its calls have other numbers than ours */
	bool is_muted;      /* not the program yet: its calls are looked at, not told */
	bool is_inside;     /* a call */
	int64_t number, ts_ns;
	uint64_t args[6];
	const struct syscall_row *row;
	struct call_texts texts;
};

struct watch {
	const struct watcher_options *o;
	int to;
	bool is_privileged;
	struct tracee *slots[WATCH_SLOTS];
	size_t count;
	struct buf out;
	bool is_deaf; /* nobody reads what it tells */
};

/* ptrace-events.c: events, which wait for company, but not long. */
extern volatile sig_atomic_t tell_is_due; /* they have waited long enough */
void tell_flush(struct watch *w);
void tell(struct watch *w, struct syscall_event *e, const struct call_texts *t); /* t NULL: no texts */
void tell_of(struct watch *w, enum syscall_event_kind kind, pid_t pid);          /* nothing but that */
void tell_call(struct watch *w, struct tracee *k, int64_t ret, int64_t end_ns);
void tell_begin(struct watch *w, struct tracee *k, bool has_ring); /* an image that only we see */

#endif
