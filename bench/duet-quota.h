/*
 * duet-quota: a simulated machine with an intermittent CPU quota, for duet-sim.
 *
 * Time is in ms. While the quota applies, the running command gets 33 ms of each 100 and waits for the rest; it
 * applies for 0.3 to 1.2 s and is lifted for as long, as in bench/duet/noise.py. Both sides are slowed by the same
 * cause, but only one execution in a few waits, periodically: each third or fourth. The order determines which side
 * that is.
 */
#ifndef SONDE_BENCH_DUET_QUOTA_H
#define SONDE_BENCH_DUET_QUOTA_H

#include "stats/rng.h"

#include <stdbool.h>
#include <stddef.h>

struct quota {
	struct stats_rng *rng;
	double now, toggle;  /* the quota starts or ends then */
	double period, left; /* start of the current period, and the time left to run in it */
	bool is_limited;
};

void quota_start(struct quota *q, struct stats_rng *r);
/* Wall time of running for this long. */
double quota_run(struct quota *q, double ms);

#endif
