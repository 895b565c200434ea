/*
 * late: calls out of their beginnings and ends, and names that are read late.
 *
 * Perf's tracepoints say numbers alone. What a new descriptor is can be asked a moment
 * later, by its link in /proc, and is told only if it is proven to be still the same: the
 * beginning of a call is written down before the call does anything, so whatever closed or
 * replaced the descriptor before the link was read is among what had been written when
 * that was done. Records up to there are seen, as calls or ahead of their turn, before a
 * name is believed. Paths that a program gave without getting a descriptor are not
 * told: what its memory says afterwards may be something else.
 *
 * The order: records and the watcher's events in the order of time; deferred_names_read;
 * late_saw_* of all records that are there after it; deferred_next until there are no more.
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
	struct map threads;   /* by tid: the call that it is in */
	struct buf out;       /* events in their order, without what is read late */
	size_t at;            /* of the next of them */
	bool is_untraced;     /* records are missing about here */
	int64_t last_ns;
	struct syscall_event *room;
};

int deferred_init(struct late *l);
void deferred_release(struct late *l);

void deferred_watched(struct late *l, const struct syscall_event *e); /* by the watcher, with its texts */
void deferred_begin(struct late *l, const struct deferred_point *p);
void deferred_end(struct late *l, const struct deferred_point *p);
void deferred_thread_ended(struct late *l, int32_t pid, int32_t tid, int64_t ts_ns);
void deferred_lost(struct late *l, int64_t ts_ns); /* records before this one */
/* Records may be missing between any two, or not any more: nobody knows which file a descriptor is. */
void deferred_set_untraced(struct late *l, bool is_untraced);
/* Whole, until the next call; NULL: that was all, and the next ones can be taken. */
const struct syscall_event *deferred_next(struct late *l);

#endif
