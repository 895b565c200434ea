/*
 * effect: how much slower or faster B is than A; the procedure of every duet.
 *
 * Runs are the observations. A run's location is the Hodges-Lehmann estimate of
 * its log-ratios (weighted by overlap), which a few wild pairs cannot move. The
 * effect and its interval, from the locations:
 *
 *	2 .. 9 runs	mean, Student's t
 *	10 and more	Hodges-Lehmann estimate, signed-rank interval; Student's t
 *			where ranks cannot reach the level
 *	looks		the same at the look's nominal error (sequential.h)
 *	1 run		Student's t on the locations of blocks of neighbouring pairs, so
 *			long that they hardly depend on each other; `is_indicative`,
 *			since what differs from run to run is not in it
 *
 * bench/duet-sim measures what this promises. Intervals aim at less error than the 5 %
 * that they promise: the rest is kept for data that is not as independent or as even as
 * supposed. Of a fixed number of runs they aim at 4.4 %, so that coverage of normal data
 * is in the middle between 95 % and 96. At looks it is 4.2 %, because there are many runs
 * then, of short commands, whose orders are balanced in groups (duet/schedule.h): where a
 * disturbance keeps step with them, the answer of 60 runs varies by up to 4 % more than
 * they show, which makes 5 % of 4.2.
 *
 * Pairs that are not finite are left out and counted; so are runs without pairs.
 */
#ifndef SONDE_STATS_EFFECT_H
#define SONDE_STATS_EFFECT_H

#include "base/arena.h"
#include "base/err.h"
#include "stats/interval.h"
#include "stats/runs.h"
#include "stats/sequential.h"

#include <stdint.h>

/* Of the error that is promised, what intervals aim at: of a fixed number of runs, at looks. */
#define STATS_EFFECT_GUARD 0.88
#define STATS_LOOKS_GUARD 0.84

enum {
	STATS_EFFECT_RANKS = 10, /* runs from which ranks are used: below, they cost more width than they save */
	STATS_EFFECT_MANY = 20,  /* runs from which a bootstrap is to be had */
};

enum stats_location { STATS_HODGES_LEHMANN, STATS_MEAN };
/*
 * SIGNS: the median, as soon as there are enough runs, else ranks or Student's t; for runs that are near each other or
 * far off (sign.h). HIERARCHICAL: from STATS_EFFECT_MANY runs on the Hodges-Lehmann estimate with a bootstrap that
 * draws runs and then the pairs of each, studentised by the width of a signed-rank interval; below, Student's t.
 * Which of them it is to be may not be chosen by the runs that are judged.
 */
enum stats_effect_method { STATS_AUTO, STATS_STUDENT, STATS_RANKS, STATS_SIGNS, STATS_HIERARCHICAL };

struct stats_effect_options {
	double level; /* promised; 0: 0.95 */
	enum stats_location location;
	enum stats_effect_method method;
	uint64_t seed;                       /* of a bootstrap */
	size_t draws;                        /* and how many; 0: as its level needs */
	const struct stats_sequential *look; /* the look just made at these runs, or NULL: a fixed number of runs */
};

struct stats_effect {
	struct stats_interval log_ratio; /* ln(tB / tA) */
	struct stats_interval ratio;     /* tB / tA: 1.04 is 4 % slower */
	struct stats_moments locations;  /* of the runs */
	double p; /* of "no change": at most 1 - level where the interval excludes it; NaN at looks */
	/* Of a location with the one before: above 2 / sqrt(runs) they depend, and the interval is too narrow. */
	double run_correlation;
	size_t pairs, dropped;
	bool is_indicative;
};

/* -EINVAL without any pair; -ENOMEM. Scratch comes from the arena. */
int stats_effect(const struct stats_runs *runs, const struct stats_effect_options *how, struct arena *arena,
		struct stats_effect *out, struct sonde_err *err);

/*
 * The standard deviation of normal runs that would have as wide an interval: what wild runs, which ranks and signs
 * forgive, have no part in. At looks it is somewhat too large. NaN below two runs or where there is no bound.
 */
double stats_effect_spread(const struct stats_effect *e);

/*
 * The geometric mean of several benchmarks' ratios, each measured on its own: these
 * benchmarks, not others like them. By Student's t of the runs' locations with
 * Satterthwaite's degrees of freedom; open if one of them has a single run. As a
 * log-ratio; n is the number of benchmarks.
 */
struct stats_interval stats_effects_mean(const struct stats_effect *effects, size_t n, double level);

/* The plan for looks that stats_effect expects: guarded, spending with the square of the share of n_max. */
void stats_effect_plan(struct stats_sequential *plan, double level, size_t n_max);

/* The location of one run's pairs; reorders both. weight may be NULL. */
double stats_run_location(double *x, double *weight, size_t n, enum stats_location location);

#endif
