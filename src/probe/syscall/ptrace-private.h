/* ptrace-private: shared by ptrace-process.c (the main loop) and ptrace-events.c (what it reports). */
#ifndef SONDE_PROBE_SYSCALL_PTRACE_PRIVATE_H
#define SONDE_PROBE_SYSCALL_PTRACE_PRIVATE_H

#include "base/buf.h"
#include "probe/syscall/event.h"
#include "probe/syscall/ptrace-process.h"
#include "probe/syscall/syscall-table.h"

#include <signal.h>
#include <stddef.h>

/* The memory that a call's arguments point to. */
struct call_texts {
	char *at[SYSCALL_TEXTS]; /* room for SYSCALL_TEXT_MAX each, allocated on demand */
	size_t bytes[SYSCALL_TEXTS];
	bool has[SYSCALL_TEXTS];
	int64_t size; /* of a vector; -1: none */
};
void texts_release(struct call_texts *t);
/* Reads up to `n` bytes of the process's memory; returns the number read. */
size_t texts_peek(pid_t tid, uint64_t from, void *to, size_t n);
/* Reads the texts named by the letters of the row. */
void texts_of_call(struct call_texts *t, pid_t tid, const struct syscall_row *row, const uint64_t args[6]);

#define WATCH_SLOTS 1024

struct tracee {
	struct tracee *next; /* in the same slot */
	pid_t tid, pid;
	bool is_reported;   /* its fork event was seen: until then it waits */
	bool is_seen;       /* its calls are wanted */
	bool is_stopped_at; /* with ptrace stops */
	bool has_ring;      /* the tracer also records it */
	bool is_foreign;    /* its calls have other numbers than ours */
	bool is_muted;      /* not the program yet: its calls are inspected, not reported */
	bool is_inside;     /* in a call */
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
	bool is_deaf; /* the reader has closed the pipe */
};

/* ptrace-events.c: sends events, buffered for a short time. */
extern volatile sig_atomic_t flush_is_due; /* the buffer must be flushed */
void flush_events(struct watch *w);
void send_event(struct watch *w, struct syscall_event *e, const struct call_texts *t); /* t NULL: no texts */
void send_kind(struct watch *w, enum syscall_event_kind kind, pid_t pid); /* an event without other fields */
void send_call(struct watch *w, struct tracee *k, int64_t ret, int64_t end_ns);
void send_start(struct watch *w, struct tracee *k, bool has_ring); /* a process that the tracer does not record */

#endif
