/*
 * lanes-nest: the boxes of one thread, boxes in boxes, as lanes by depth. Private to model/.
 *
 * Boxes come in the order of their start. Stamps of one instant that were
 * converted with different pairs of the clock differ by up to a microsecond,
 * so an outer box may come a little after an inner one, and neighbours may
 * overlap a little. Boxes therefore wait until none that could enclose them
 * can come; an outer one that came late is moved to its inner one's start.
 */
#ifndef SONDE_MODEL_LANES_NEST_H
#define SONDE_MODEL_LANES_NEST_H

#include "model/lanes.h"

#define NEST_WAITING_MAX 16

struct lanes_box {
	struct pyramid_slice slice;
	int64_t depth; /* as the program says it; -1: unknown */
};

struct lanes_thread {
	int64_t process, tid;
	/* private */
	unsigned depths, cap;
	int64_t *ends; /* by depth: when the last box there ends */
	int64_t *lanes;
	unsigned waiting_count;
	struct lanes_box waiting[NEST_WAITING_MAX]; /* in the order of start, the longest first */
};

int lanes_thread_add(struct lanes_thread *t, struct pyramid_writer *w, const struct lanes_box *box);
int lanes_thread_flush(struct lanes_thread *t, struct pyramid_writer *w);
void lanes_thread_release(struct lanes_thread *t);

#endif
