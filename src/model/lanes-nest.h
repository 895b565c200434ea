/*
 * lanes-nest: nest the boxes of one thread and add them to lanes by depth. Private to model/.
 *
 * Boxes are added in order of start. Timestamps of one instant that were converted with different clock pairs differ
 * by up to a microsecond, so an outer box may come slightly after an inner one, and neighbours may overlap slightly.
 * Boxes are delayed until no enclosing one can follow; an outer box that came late is moved to the start of its inner
 * one.
 */
#ifndef SONDE_MODEL_LANES_NEST_H
#define SONDE_MODEL_LANES_NEST_H

#include "model/lanes.h"

#define NEST_WAITING_MAX 16

struct lanes_box {
	struct pyramid_slice slice;
	int64_t depth; /* as recorded by the program; -1: unknown */
};

struct lanes_thread {
	int64_t process, tid;
	/* private */
	unsigned depths, cap;
	int64_t *ends; /* by depth: when the last box there ends */
	int64_t *lanes;
	unsigned waiting_count;
	struct lanes_box waiting[NEST_WAITING_MAX]; /* in order of start, the longest first */
};

int lanes_thread_add(struct lanes_thread *t, struct pyramid_writer *w, const struct lanes_box *box);
int lanes_thread_flush(struct lanes_thread *t, struct pyramid_writer *w);
void lanes_thread_release(struct lanes_thread *t);

#endif
