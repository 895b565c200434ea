/*
 * clockfit: another host's clock against ours, from pings: their time, and ours before and after.
 *
 * Their clock is offset + drift ahead of ours. Each ping says an interval that the difference
 * was in, half the round trip to either side, whatever the network did. Of each stretch of
 * time the fastest ping counts; a line is laid through these, and the bound is the largest
 * distance that any of their intervals reaches from the line: at those instants the difference
 * is certain to be within it. (D. Mills, RFC 5905 section 10: the clock filter.)
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
	int64_t at_ns;     /* ours: when offset_ns was the difference */
	int64_t offset_ns; /* theirs minus ours */
	double drift;      /* by how much more that is each second, in seconds */
	int64_t bound_ns;
	int64_t trip_ns; /* the fastest round trip */
	size_t pings;
};

/* -EINVAL when there is no ping, or none makes sense. Pings are in the order of time. */
int clock_fit(const struct clock_ping *pings, size_t count, struct clock_fit *out);
/* Their time as ours. */
int64_t clock_fit_ours(const struct clock_fit *f, int64_t theirs_ns);

#endif
