/*
 * pace: how many a second, from what a board has of a counter or a rate (sonde/shm.h).
 *
 * Boards tell time in ticks; a clock says what they are. live_current_rate is about now: the last LIVE_RATE_SECONDS,
 * of a rate
 * alone, right also when nothing happens any more. A pace is about a whole run: of all processes that count under one
 * name, from the first update to the last, or from a moment that was marked (the end of a warm-up).
 */
#ifndef SONDE_LIVE_RATE_H
#define SONDE_LIVE_RATE_H

#include "sonde/shm.h"

#include <stdbool.h>
#include <stdint.h>

#define LIVE_RATE_SECONDS 10.0

struct live_clock { /* of a ring directory */
	bool is_monotonic;
	uint64_t start_ticks;
	int64_t start_mono_ns;
	double tick_s; /* NaN: not known */
};

/* Of the ring directory's control file; what cannot be read leaves tick_s unknown. */
void live_clock_read(struct live_clock *c, int dirfd);
/* How long a tick is, measured from the ring's start to now. */
void live_clock_set(struct live_clock *c);
uint64_t live_clock_ticks(const struct live_clock *c); /* now */

/* NaN: it is too young to tell, or makes no sense. h: the metric's; NULL: it has none. */
double live_current_rate(const struct sonde_metric *m, const struct sonde_histogram *h, const struct live_clock *c,
		uint64_t now_ticks);

struct live_rate {
	double total;
	double first_value, first_s, last_s; /* of the process that was first; of the one that was last */
	double marked_total, marked_s;
	bool has_any, is_marked;
};

/* What a process has counted at its end. */
void live_rate_add(struct live_rate *p, const struct sonde_metric *m, const struct live_clock *c);
/* Now only what comes later counts. Called for each process that runs then, with what it has counted so far. */
void live_rate_mark(struct live_rate *p, const struct sonde_metric *m, const struct live_clock *c, double now_s);
double live_rate_per_second(const struct live_rate *p); /* NaN: there is no time between */

#endif
