/*
 * wait-sampler: the stack of a blocked thread, read from outside while it waits.
 *
 * Context switches are sampled at most at the frequency of CPU samples, and after two switches in a row the kernel
 * increases their period so much that a thread which rarely waits may get no sample. A long wait can be inspected
 * instead. Whether it was the same wait is known only at its end: the caller compares times.
 */
#ifndef SONDE_PROBE_PERF_WAIT_SAMPLER_H
#define SONDE_PROBE_PERF_WAIT_SAMPLER_H

#include "probe/perf/source.h"

/* Returns the current user frames of `k` as a row of the table stack; STORE_NULL: it runs, or cannot be read. */
int64_t wait_look(struct perf_source *source, const struct task *k);

#endif
