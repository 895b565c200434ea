/*
 * effect: how much slower or faster B is than A; the procedure of every duet.
 *
 * Runs are the observations. A run's location is the Hodges-Lehmann estimate of
 * its log-ratios (weighted by overlap), which a few wild pairs cannot move; the
 * effect is the mean of the locations. Its interval:
 *
 *	2 .. 19 runs	Student's t
 *	20 and more	studentised bootstrap of whole runs, seeded
 *	1 run		Student's t on the means of blocks of neighbouring pairs, so
 *			long that they hardly depend on each other; `is_indicative`,
 *			since what differs from run to run is not in it
 *	looks		Student's t at the look's nominal error (sequential.h)
 *
 * Pairs that are not numbers are left out and counted; so are runs without pairs.
 */
#ifndef SONDE_STATS_EFFECT_H
#define SONDE_STATS_EFFECT_H

#include "base/arena.h"
#include "base/err.h"
#include "stats/interval.h"
#include "stats/runs.h"
#include "stats/sequential.h"

#include <stdint.h>

enum { STATS_EFFECT_MANY = 20 }; /* runs from which the bootstrap takes over */

enum stats_location { STATS_HODGES_LEHMANN, STATS_MEAN };

struct stats_effect {
	struct stats_interval log_ratio; /* ln(tB / tA) */
	struct stats_interval ratio;     /* tB / tA: 1.04 is 4 % slower */
	struct stats_moments locations;  /* of the runs */
	double p;                        /* two-sided, of "no change", by Student's t on the locations */
	size_t pairs, dropped;
	bool is_indicative;
};

struct stats_effect_options {
	double level; /* 0: 0.95 */
	enum stats_location location;
	uint64_t seed;
	const struct stats_sequential *look; /* the look just made, or NULL: a fixed number of runs */
};

/* -EINVAL without any pair; -ENOMEM. Scratch comes from the arena. */
int stats_effect(const struct stats_runs *runs, const struct stats_effect_options *how, struct arena *arena,
	struct stats_effect *out, struct sonde_err *err);

/* The location of one run's pairs; reorders both. weight may be NULL. */
double stats_run_location(double *x, double *weight, size_t n, enum stats_location location);

#endif
