/*
 * wait-look: the stack of a thread that waits, read from outside while it does.
 *
 * Samples of context switches are taken at most as often as of CPU time, and the kernel grows their period after two
 * switches in a row so far that a thread which waits seldom may have none. A wait that goes on can be looked at
 * instead. Whether it was the same wait all the while, only its end tells: the caller compares times.
 */
#ifndef SONDE_PROBE_PERF_WAIT_SAMPLER_H
#define SONDE_PROBE_PERF_WAIT_SAMPLER_H

#include "probe/perf/source.h"

/* The user frames of `k` now, as a row of the table stack; STORE_NULL: it runs, or nothing can be read. */
int64_t wait_look(struct perf_source *source, const struct task *k);

#endif
