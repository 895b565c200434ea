/*
 * deferred-calls: pairs the entries and exits of calls, and reads names of descriptors afterwards.
 *
 * Perf's tracepoints have only numbers. The name of a new descriptor can be read a moment later, from its link in
 * /proc, and is reported only if it is proven to be unchanged: the entry of a call is recorded before the call does
 * anything, so any call that closed or replaced the descriptor before the link was read is among the records written by
 * then. Records up to that point are inspected, in order or ahead of their turn, before a name is used. Paths that a
 * program passed without getting a descriptor are not reported: its memory may have changed since.
 *
 * Order: records and events of the ptrace process in time order; deferred_names_read; deferred_names_on_seen for all
 * records that exist after it; deferred_next until it returns NULL.
 */
#ifndef SONDE_PROBE_SYSCALL_DEFERRED_CALLS_H
#define SONDE_PROBE_SYSCALL_DEFERRED_CALLS_H

#include "base/buf.h"
#include "base/map.h"
#include "probe/syscall/event.h"

#include <stdbool.h>
#include <stddef.h>

#define DEFERRED_CLOSINGS 64
#define DEFERRED_NAMES 1024

/* Entry or exit of a call, from a tracepoint. */
struct deferred_point {
	int32_t pid, tid;
	uint32_t cpu;
	int64_t ts_ns;
	int64_t number;
	uint64_t args[6]; /* of an entry */
	int64_t ret;      /* of an exit */
};

/* A call that closes descriptors or changes names; pid 0: of all processes. */
struct deferred_closing {
	int32_t pid, tid;
	uint32_t first, last;
	int64_t end_ns; /* 0: still running */
};

struct deferred_name {
	size_t at; /* position of its event */
	int32_t pid;
	int fd;
	bool is_path; /* it was opened by name */
	bool is_seekable;
	char *text; /* NULL: it could not be read */
};

/* Descriptors with names to read, and the calls that invalidate them. */
struct deferred_names {
	uint64_t told, dropped; /* reported and discarded names */
	/* private */
	struct deferred_name looks[DEFERRED_NAMES]; /* in event order, without closed descriptors */
	size_t count, next;
	struct deferred_closing closings[DEFERRED_CLOSINGS]; /* still running */
	size_t closing_count;
	struct deferred_closing ended[DEFERRED_CLOSINGS]; /* the latest ones */
	size_t ended_count;                               /* total */
	bool is_crowded; /* too many at once: no name is trusted until all have returned */
};

struct late {
	struct deferred_names names;
	/* private */
	struct map processes; /* by pid: flags */
	struct map threads;   /* by tid: the current call */
	struct buf out;       /* events in order, without deferred names */
	size_t at;            /* of the next of them */
	bool is_untraced;     /* records may be missing here */
	int64_t last_ns;
	struct syscall_event *room;
};

int deferred_init(struct late *l);
void deferred_release(struct late *l);

void deferred_watched(struct late *l, const struct syscall_event *e); /* by the ptrace process, with its texts */
void deferred_on_enter(struct late *l, const struct deferred_point *p);
void deferred_on_exit(struct late *l, const struct deferred_point *p);
void deferred_thread_ended(struct late *l, int32_t pid, int32_t tid, int64_t ts_ns);
void deferred_lost(struct late *l, int64_t ts_ns); /* records before this one */
bool deferred_is_closing(int64_t number);          /* does such a call close descriptors or change names? */
void deferred_names_on_seen(struct deferred_names *n, const struct deferred_point *p); /* ahead of its turn */
void deferred_names_forget(struct deferred_names *n, int32_t pid);                     /* of pid, or all (0) */
bool deferred_names_read(struct deferred_names *n);                                    /* false: none requested */
/* Whether records may be missing between any two: then the file of a descriptor is unknown. */
void deferred_set_untraced(struct late *l, bool is_untraced);
/* Returns the next complete event, valid until the next call; NULL at the end, then new records may be added. */
const struct syscall_event *deferred_next(struct late *l);

#endif
