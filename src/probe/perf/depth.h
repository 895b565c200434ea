/*
 * depth: how much of a user stack the kernel copies into a sample.
 *
 * The copy is what a sample with a stack costs its program more than one without: 2 us of 15 for 16 KiB, next to
 * nothing for 1 KiB. So where there are many samples a second there is an event for each of several sizes, and one of
 * them is on: the smallest that would have held every stack of late. A stack that does not fit is cut; then the largest
 * is on again, and each time it takes longer until a smaller one is tried.
 */
#ifndef SONDE_PROBE_PERF_DEPTH_H
#define SONDE_PROBE_PERF_DEPTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DEPTH_SIZES_MAX 3

struct depth {
	uint32_t bytes[DEPTH_SIZES_MAX]; /* the largest first */
	unsigned count;                  /* 0: nothing is copied */
	unsigned on;
	/* private */
	uint64_t deepest;     /* of the stacks seen */
	uint32_t seen, trial; /* so many of so many, then another size may be on */
};

/* For so many samples a second; is_fixed: one size, whatever comes. */
void depth_init(struct depth *d, unsigned freq_hz, bool is_fixed);
/*
 * A sample had room for `room` bytes, and `needed` were. is_short: that was not enough. True: another size shall be on
 * from now on, d->on says which. Samples of other sizes, from before, change nothing.
 */
bool depth_note(struct depth *d, size_t room, uint64_t needed, bool is_short);

#endif
