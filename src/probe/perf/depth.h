/*
 * depth: how much of a user stack the kernel copies into a sample.
 *
 * The copy is the extra cost of a sample with a stack: 2 us of 15 for 16 KiB, almost nothing for 1 KiB. So at high
 * sampling frequencies there is an event for each of several sizes, and one of them is enabled: the smallest that would
 * have held every recent stack. A stack that does not fit is truncated; then the largest is enabled again, and the time
 * until a smaller one is tried grows.
 */
#ifndef SONDE_PROBE_PERF_DEPTH_H
#define SONDE_PROBE_PERF_DEPTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEPTH_SIZES_MAX 3

struct depth {
	uint32_t bytes[DEPTH_SIZES_MAX]; /* largest first */
	unsigned count;                  /* 0: no copies */
	unsigned on;
	/* private */
	uint64_t deepest;     /* maximum of the stacks seen */
	uint32_t seen, trial; /* samples seen of the current trial */
};

/* is_fixed: one size for the whole run. */
void depth_init(struct depth *d, unsigned freq_hz, bool is_fixed);
/*
 * Records that a sample had room for `room` bytes and needed `needed`. is_short: that was not enough. Returns true if
 * the size changes to d->on. Samples with other, earlier sizes are ignored.
 */
bool depth_note(struct depth *d, size_t room, uint64_t needed, bool is_short);

#endif
