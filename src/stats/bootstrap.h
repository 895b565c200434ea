/*
 * bootstrap: intervals from resampling, reproducible by seed.
 *
 * PERCENTILE is the simplest, BCA corrects its bias and skew, STUDENTISED is the only one of the three that keeps its
 * level with few values and skewed data: it uses the quantiles of (draw - estimate) / se(draw). All of them
 * undercover below about 15 values (BCa of 5 normal values: 83 % for 95 %): use Student's t there.
 *
 * Memory for the draws comes from the caller's arena. -EINVAL for no data, NaN among it or options out of range,
 * -ENOMEM.
 */
#ifndef SONDE_STATS_BOOTSTRAP_H
#define SONDE_STATS_BOOTSTRAP_H

#include "base/arena.h"
#include "base/err.h"
#include "stats/interval.h"
#include "stats/runs.h"

#include <stdint.h>

enum stats_bootstrap_kind { STATS_STUDENTISED, STATS_PERCENTILE, STATS_BCA };

/* A statistic of n values; it may reorder x. */
typedef double stats_statistic(double *x, size_t n, const void *context);
/* The same for a run's values with their weights (NULL: equal weights); it may modify both. */
typedef double stats_run_statistic(double *x, double *weight, size_t n, const void *context);

struct stats_bootstrap {
	enum stats_bootstrap_kind kind;
	double level;
	size_t draws; /* 0: 1999; at most 10^7 */
	uint64_t seed;
	stats_statistic *statistic;  /* NULL: mean; of the values, or of the results of of_run */
	stats_statistic *se;         /* STUDENTISED: its standard error; NULL: by the jackknife */
	stats_run_statistic *of_run; /* NULL: weighted mean */
	const void *context;
	double widen; /* STUDENTISED: factor for the width (0: 1), compensates for few values */
	size_t block; /* runs: see below; values: resample blocks of this length, 0 or 1: single values */
	double *p;    /* STUDENTISED: receives the two-sided p of "it is 0" that matches the interval; may be NULL */
};

int stats_bootstrap_values(const double *x, size_t n, const struct stats_bootstrap *how, struct arena *arena,
		struct stats_interval *out, struct sonde_err *err);

/*
 * The statistic over runs of the of_run of each run. A draw takes runs with replacement. With `block` 0 each run is
 * used unchanged; otherwise its values are resampled too, in blocks of this length (a pool of resampled runs is
 * shared by all draws, since a resample is as good for one draw as for another). Whole runs are right for the mean of
 * run means: resampling twice counts the spread within runs twice (Davison and Hinkley, section 3.8), which only
 * STUDENTISED corrects. BCA supports only block 0.
 */
int stats_bootstrap_runs(const struct stats_runs *runs, const struct stats_bootstrap *how, struct arena *arena,
		struct stats_interval *out, struct sonde_err *err);

#endif
