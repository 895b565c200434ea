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
#include "probe/syscall/deferred-names.h"

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
void deferred_begin(struct late *l, const struct deferred_point *p);
void deferred_end(struct late *l, const struct deferred_point *p);
void deferred_thread_ended(struct late *l, int32_t pid, int32_t tid, int64_t ts_ns);
void deferred_lost(struct late *l, int64_t ts_ns); /* records before this one */
/* Whether records may be missing between any two: then the file of a descriptor is unknown. */
void deferred_set_untraced(struct late *l, bool is_untraced);
/* Returns the next complete event, valid until the next call; NULL at the end, then new records may be added. */
const struct syscall_event *deferred_next(struct late *l);

#endif
