/*
 * delay: time that the threads of a process were runnable (waiting for a CPU), summed.
 *
 * The kernel reports it per thread. Threads are read at most ten times a second, and less often if there are many, so
 * that the recorder spends at most 1/300 of a CPU on it.
 */
#ifndef SONDE_PROBE_PROC_DELAY_H
#define SONDE_PROBE_PROC_DELAY_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct delays {
	/* private */
	struct delay {
		int32_t tid;
		uint64_t ns;
	} * threads; /* alive at the last reading */
	size_t count;
	uint64_t gone_ns; /* sum of the exited threads */
	int64_t due_ns;
};

/* Returns false if a reading is not due yet, or if there are too many threads. */
bool delays_read(struct delays *d, int32_t pid, int64_t now_ns, struct buf *room, uint64_t *sum_ns);
void delays_release(struct delays *d);

#endif
