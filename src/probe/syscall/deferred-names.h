/* late-names: descriptors whose names are read late, and what takes these away; a part of deferred-calls.h. */
#ifndef SONDE_PROBE_SYSCALL_DEFERRED_NAMES_H
#define SONDE_PROBE_SYSCALL_DEFERRED_NAMES_H

#include "probe/syscall/event.h"

#include <stdbool.h>
#include <stddef.h>

#define DEFERRED_CLOSINGS 64
#define DEFERRED_NAMES 1024

/* One end of a call, as a tracepoint tells it. */
struct deferred_point {
	int32_t pid, tid;
	uint32_t cpu;
	int64_t ts_ns;
	int64_t number;
	uint64_t args[6]; /* of a beginning */
	int64_t ret;      /* of an end */
};

/* A call that takes descriptors away, or names; pid 0: from everybody. */
struct deferred_closing {
	int32_t pid, tid;
	uint32_t first, last;
	int64_t end_ns; /* 0: it has not ended */
};

struct deferred_name {
	size_t at; /* of its event among the others */
	int32_t pid;
	int fd;
	bool is_path; /* it was opened by name */
	bool is_seekable;
	char *text; /* NULL: it could not be read */
};

struct deferred_names {
	uint64_t told, dropped; /* of names that were read */
	/* private */
	struct deferred_name
			looks[DEFERRED_NAMES]; /* in the order of their events; a descriptor that is gone has none */
	size_t count, next;
	struct deferred_closing closings[DEFERRED_CLOSINGS]; /* that have begun and not ended */
	size_t closing_count;
	struct deferred_closing ended[DEFERRED_CLOSINGS]; /* the last ones */
	size_t ended_count;                               /* that ever were */
	bool is_crowded; /* there were too many of them at once: nothing is believed until none is left */
};

bool deferred_names_take(int64_t number); /* such a call takes descriptors or names away */
/* After it descriptors are closed by others than calls, or are not the same for all threads. */
bool deferred_makes_opaque(const struct deferred_point *p);

/* The descriptor that the event at `at`, a call that began then, has made shall be looked at. */
void deferred_names_want(struct deferred_names *n, size_t at, const struct syscall_event *e, bool is_path);
void deferred_names_begin(struct deferred_names *n, const struct deferred_point *p); /* a call that may take some */
/* Such calls of the process (or 0) or of the thread have ended. */
void deferred_names_end(struct deferred_names *n, int32_t pid, int32_t tid, int64_t ts_ns);
void deferred_names_on_seen(struct deferred_names *n, const struct deferred_point *p); /* ahead of its turn */
void deferred_names_forget(struct deferred_names *n, int32_t pid); /* looks at those of pid, or all (0) */
bool deferred_names_read(struct deferred_names *n);                /* false: there are none */
void deferred_names_reset(struct deferred_names *n);               /* the next events */
/* The event at `at` with its name, in `room`; itself when it has none. */
const struct syscall_event *deferred_names_add(struct deferred_names *n, size_t at, const struct syscall_event *e,
		struct syscall_event *room);

#endif
