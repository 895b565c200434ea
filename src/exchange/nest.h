/*
 * nest: the nesting of a thread's events.
 *
 * Viewers draw a thread's events as nested slices: an event that starts inside another must end inside it. Calls and
 * spans do, with two exceptions. Timestamps of one instant that were converted with different clock pairs differ by
 * some nanoseconds: an event that ends up to NEST_SLACK_NS too late is cut. And a program may end its spans in another
 * order than it started them: such a span must be drawn elsewhere.
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
 * Adds the events of a thread in time order, the longest first. Returns how [ts, ts + dur] fits, cuts *dur_ns if
 * necessary, and keeps the event unless it crosses another. -ENOMEM on failure.
 */
int nest_add(struct nest *n, int64_t pid, int64_t tid, int64_t ts_ns, int64_t *dur_ns);

#endif
