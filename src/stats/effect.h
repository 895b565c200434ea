/*
 * effect: how much slower or faster B is than A; the procedure of every duet.
 *
 * Runs are the observations. A run's location is the Hodges-Lehmann estimate of its log-ratios (weighted by overlap),
 * which is robust against outliers. The effect and its interval, from the locations:
 *
 *	2 .. 9 runs	mean, Student's t
 *	10 and more	Hodges-Lehmann estimate, signed-rank interval; Student's t
 *			if ranks cannot reach the level
 *	interim		the same at the analysis' nominal error (sequential.h)
 *	1 run		Student's t on the locations of blocks of adjacent pairs, so
 *			long that they are nearly independent; `is_indicative`,
 *			since variation between runs is not included
 *
 * bench/duet-sim measures the coverage. Intervals target less error than the nominal 5 %, as a margin for data that
 * is less independent or less regular than assumed. With a fixed number of runs they target 4.4 %, so that coverage
 * of normal data is midway between 95 % and 96 %. At interim analyses it is 4.2 %, because there are many runs then,
 * of short commands, balanced in groups (duet/duet.h): if a periodic disturbance correlates with the groups, the
 * answer of 60 runs varies by up to 4 % more than they show, which turns 4.2 % into 5 %.
 *
 * Pairs that are not finite are excluded and counted; so are runs without pairs.
 */
#ifndef SONDE_STATS_EFFECT_H
#define SONDE_STATS_EFFECT_H

#include "base/arena.h"
#include "base/err.h"
#include "stats/interval.h"
#include "stats/sequential.h"

#include <stdint.h>

/* Share of the nominal error that intervals target: with a fixed number of runs, at interim analyses. */
#define STATS_EFFECT_GUARD 0.88
#define STATS_LOOKS_GUARD 0.84

/*
 * The input of every comparison. A run (one pair of processes) is the unit of replication: its pairs of iterations
 * share memory layout, cores and neighbours, and are one observation, not many (Kalibera and Jones, "Rigorous
 * benchmarking in reasonable time", ISMM 2013). All pointers are borrowed.
 */
struct stats_runs {
	const double *x;      /* ln(tB / tA) of every pair, by run */
	const double *weight; /* of every pair (overlap in time), or NULL: equal weights */
	const size_t *first;  /* run r is x[first[r]] .. x[first[r + 1] - 1]; count + 1 entries, ascending */
	size_t count;
};

enum {
	STATS_EFFECT_RANKS = 10, /* minimum runs for ranks: with fewer, they cost more width than they save */
	STATS_EFFECT_MANY = 20,  /* minimum runs for a bootstrap */
};

/*
 * SIGNS: the median, if there are enough runs, else ranks or Student's t; for runs that are near each other or far
 * off (ranks.h). HIERARCHICAL: from STATS_EFFECT_MANY runs on the Hodges-Lehmann estimate with a bootstrap that draws
 * runs and then the pairs of each, studentised by the width of a signed-rank interval; below, Student's t. The method
 * must not be chosen from the runs that are judged.
 */
enum stats_effect_method { STATS_AUTO, STATS_STUDENT, STATS_RANKS, STATS_SIGNS, STATS_HIERARCHICAL };

struct stats_effect_options {
	double level; /* nominal; 0: 0.95 */
	enum stats_effect_method method;
	uint64_t seed;                       /* for a bootstrap */
	size_t draws;                        /* of a bootstrap; 0: as its level needs */
	const struct stats_sequential *look; /* the current interim analysis; NULL: a fixed number of runs */
};

struct stats_effect {
	struct stats_interval log_ratio; /* ln(tB / tA) */
	struct stats_interval ratio;     /* tB / tA: 1.04 is 4 % slower */
	struct stats_moments locations;  /* of the runs */
	double p; /* of "no change": at most 1 - level if the interval excludes it; NaN at interim analyses */
	/* Lag-1 correlation of the locations: above 2 / sqrt(runs) they depend on each other, and the interval is too
	 * narrow. */
	double run_correlation;
	size_t pairs, dropped;
	bool is_indicative;
};

/* Returns -EINVAL without any pair; -ENOMEM. Scratch memory comes from the arena. */
int stats_effect(const struct stats_runs *runs, const struct stats_effect_options *how, struct arena *arena,
		struct stats_effect *out, struct sonde_err *err);

/*
 * The standard deviation of normal runs with an equally wide interval: outliers, which ranks and signs tolerate, do
 * not contribute. At interim analyses it is slightly too large. NaN below two runs or without a bound.
 */
double stats_effect_spread(const struct stats_effect *e);

/*
 * The geometric mean of the ratios of several benchmarks, measured independently: it describes these benchmarks, not
 * others like them. By Student's t of the runs' locations with Satterthwaite's degrees of freedom; open if one of
 * them has a single run. As a log-ratio; n is the number of benchmarks.
 */
struct stats_interval stats_effects_mean(const struct stats_effect *effects, size_t n, double level);

/* The plan of interim analyses that stats_effect expects: guarded, spending with the square of the share of n_max. */
void stats_effect_plan(struct stats_sequential *plan, double level, size_t n_max);

/* The location of one run's pairs; reorders both arrays. weight may be NULL. */
double stats_run_location(double *x, double *weight, size_t n);

#endif
