/*
 * delay: how long the threads of a process waited for a CPU, all together.
 *
 * The kernel tells it of single threads. They are read at most ten times a second, and less often where they are
 * many, so that their number costs the recorder no more than a part in 300 of a CPU.
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
	} * threads; /* that lived when they were read last */
	size_t count;
	uint64_t gone_ns; /* of those that do not any more */
	int64_t due_ns;
};

/* false: it is not time for it, or there are too many. */
bool delays_read(struct delays *d, int32_t pid, int64_t now_ns, struct buf *room, uint64_t *sum_ns);
void delays_release(struct delays *d);

#endif
