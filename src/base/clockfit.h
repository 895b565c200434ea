/*
 * clockfit: the offset and drift of another host's clock, from pings: their time, and ours before and after.
 *
 * Their clock is offset + drift ahead of ours. Each ping bounds the difference to an interval of half the round trip
 * on either side, whatever the network did. The fastest ping of each interval of time counts; a line is fitted to
 * these. The error bound is the largest distance from the line to the end of any of their intervals: at those
 * instants the difference is certain to be within it. (D. Mills, RFC 5905 section 10: the clock filter.)
 */
#ifndef SONDE_BASE_CLOCKFIT_H
#define SONDE_BASE_CLOCKFIT_H

#include <stddef.h>
#include <stdint.h>

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
