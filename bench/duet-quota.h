/*
 * duet-quota: a made-up machine whose share of a processor is limited now and then, for duet-sim.
 *
 * Time is in ms. While the limit holds, what runs has 33 ms of each 100 and waits for the rest; it holds for
 * 0.3 to 1.2 s and is away as long, as in bench/duet/noise.py. So both sides are slowed by the same thing, but it is
 * one execution in a few that waits, and in step: each third or fourth. Which side that hits the order decides.
 */
#ifndef SONDE_BENCH_DUET_QUOTA_H
#define SONDE_BENCH_DUET_QUOTA_H

#include "stats/rng.h"

#include <stdbool.h>
#include <stddef.h>

struct quota {
	struct stats_rng *rng;
	double now, toggle;  /* the limit comes or goes then */
	double period, left; /* the start of the period under way, and what may run in it */
	bool is_limited;
};

void quota_start(struct quota *q, struct stats_rng *r);
/* How long it takes to run for so long. */
double quota_run(struct quota *q, double ms);

#endif
