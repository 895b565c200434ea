/*
 * clock: the one clock (CLOCK_MONOTONIC nanoseconds), its wall-clock anchor, and the conversion of CPU ticks to it.
 *
 * A tick_line holds (ticks, monotonic) pairs in rising order. It interpolates linearly between them and extrapolates
 * beyond the ends with the slope of the nearest segment. `error_ns` is the largest uncertainty of a sampled pair:
 * half the time that reading both clocks took.
 */
#ifndef SONDE_BASE_CLOCK_H
#define SONDE_BASE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int64_t clock_mono_ns(void);
int64_t clock_real_ns(void);
int64_t clock_cpu_ns(void); /* CPU time of this process */

bool clock_ticks_are_constant(void); /* there is an invariant TSC that the kernel trusts */
uint64_t clock_ticks(void);          /* rdtsc; CLOCK_MONOTONIC ns without a TSC */

struct tick_pair {
	uint64_t ticks;
	int64_t mono_ns;
};

struct tick_line {
	struct tick_pair *pairs;
	size_t count;
	double error_ns;
	/* private */
	size_t cap;
	size_t hint;       /* segment of the last conversion, */
	size_t hint_count; /* pairs at that time, */
	double slope;      /* and its slope */
};

#define TICK_LINE_INIT { 0 }

int tick_line_add(struct tick_line *l, uint64_t ticks, int64_t mono_ns); /* ignores pairs that do not rise */
int tick_line_sample(struct tick_line *l); /* reads both clocks now and adds the tightest of a few attempts */
int64_t tick_line_ns(struct tick_line *l, uint64_t ticks); /* with fewer than two pairs, ticks are ns */
void tick_line_release(struct tick_line *l);

/*
 * The offset and drift of another host's clock, from pings: their time, and ours before and after.
 *
 * Their clock is offset + drift ahead of ours. Each ping bounds the difference to an interval of half the round trip
 * on either side, whatever the network did. The fastest ping of each interval of time counts; a line is fitted to
 * these. The error bound is the largest distance from the line to the end of any of their intervals: at those
 * instants the difference is certain to be within it. (D. Mills, RFC 5905 section 10: the clock filter.)
 */
struct clock_ping {
	int64_t sent_ns, received_ns; /* ours */
	int64_t theirs_ns;
};

struct clock_fit {
	int64_t at_ns;     /* our time at which offset_ns was the difference */
	int64_t offset_ns; /* theirs minus ours */
	double drift;      /* growth of the offset, in seconds per second */
	int64_t bound_ns;
	int64_t trip_ns; /* the fastest round trip */
	size_t pings;
};

/* Pings are in order of time. Returns -EINVAL without a valid ping. */
int clock_fit(const struct clock_ping *pings, size_t count, struct clock_fit *out);
/* Converts their time to ours. */
int64_t clock_fit_ours(const struct clock_fit *f, int64_t theirs_ns);

#endif
