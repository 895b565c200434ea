/*
 * nest: which events of a thread lie inside which.
 *
 * Viewers draw a thread's events as boxes in boxes: one that begins inside
 * another must end inside it. Calls and spans do, but for two cases. Time
 * stamps of one instant that were converted with different pairs of the clock
 * differ by some nanoseconds: an event that sticks out by at most
 * NEST_SLACK_NS is cut. And a program may end its spans in another order than
 * it began them: such a one has to be drawn elsewhere.
 */
#ifndef SONDE_EXCHANGE_NEST_H
#define SONDE_EXCHANGE_NEST_H

#include "base/map.h"

#include <stdint.h>

#define NEST_SLACK_NS 1000

struct nest {
	/* private */
	struct map numbers; /* pid and tid -> number, from 1 */
	struct nest_thread *threads;
	size_t cap;
};

#define NEST_INIT { .threads = NULL }

enum nest_fit { NEST_INSIDE, NEST_CUT, NEST_CROSSES };

void nest_release(struct nest *n);
/*
 * Events of a thread come in the order of their time, the longest first. Says
 * how [ts, ts + dur] fits, cuts *dur_ns if need be and remembers it unless it
 * crosses. -ENOMEM.
 */
int nest_add(struct nest *n, int64_t pid, int64_t tid, int64_t ts_ns, int64_t *dur_ns);

#endif
