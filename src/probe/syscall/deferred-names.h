/* deferred-names: descriptors with names to read, and the calls that invalidate them; a part of deferred-calls.h. */
#ifndef SONDE_PROBE_SYSCALL_DEFERRED_NAMES_H
#define SONDE_PROBE_SYSCALL_DEFERRED_NAMES_H

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

bool deferred_names_take(int64_t number); /* does such a call close descriptors or change names? */
/* Does it cause descriptors to be closed without a call, or to differ between threads? */
bool deferred_makes_opaque(const struct deferred_point *p);

/* Requests the name of the descriptor that the call at position `at`, which started then, created. */
void deferred_names_want(struct deferred_names *n, size_t at, const struct syscall_event *e, bool is_path);
void deferred_names_begin(struct deferred_names *n, const struct deferred_point *p); /* a call that may close some */
/* Such calls of the process (or 0) or of the thread have returned. */
void deferred_names_end(struct deferred_names *n, int32_t pid, int32_t tid, int64_t ts_ns);
void deferred_names_on_seen(struct deferred_names *n, const struct deferred_point *p); /* ahead of its turn */
void deferred_names_forget(struct deferred_names *n, int32_t pid);                     /* of pid, or all (0) */
bool deferred_names_read(struct deferred_names *n);                                    /* false: none requested */
void deferred_names_reset(struct deferred_names *n);                                   /* for the next events */
/* Returns the event at `at` with its name, in `room`; unchanged if it has none. */
const struct syscall_event *deferred_names_add(struct deferred_names *n, size_t at, const struct syscall_event *e,
		struct syscall_event *room);

#endif
