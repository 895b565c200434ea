/*
 * bootstrap: intervals from resampling, repeatable by seed.
 *
 * PERCENTILE is the simplest, BCA corrects its bias and skew, STUDENTISED takes
 * the quantiles of (draw - estimate) / se(draw) and is the only one of the three
 * that keeps its level with few values and skewed data. All of them cover too
 * little below some 15 values (BCa of 5 normal values: 83 % for 95 %): use
 * Student's t there.
 *
 * Memory for the draws comes from the caller's arena. -EINVAL for no data, NaN
 * among it or options out of range, -ENOMEM.
 */
#ifndef SONDE_STATS_BOOTSTRAP_H
#define SONDE_STATS_BOOTSTRAP_H

#include "base/arena.h"
#include "base/err.h"
#include "stats/interval.h"
#include "stats/runs.h"

#include <stdint.h>

enum stats_bootstrap_kind { STATS_STUDENTISED, STATS_PERCENTILE, STATS_BCA };

/* A number that sums up n values; it may reorder x. */
typedef double stats_statistic(double *x, size_t n, const void *context);
/* The same of a run's values with their weights (NULL: all alike), both of which it may spoil. */
typedef double stats_run_statistic(double *x, double *weight, size_t n, const void *context);

struct stats_bootstrap {
	enum stats_bootstrap_kind kind;
	double level;
	size_t draws; /* 0: 1999; at most 10^7 */
	uint64_t seed;
	stats_statistic *statistic;  /* NULL: mean; of the values, or of what of_run says of the runs */
	stats_statistic *se;         /* STUDENTISED: its standard error; NULL: by leaving out one value at a time */
	stats_run_statistic *of_run; /* NULL: weighted mean */
	const void *context;
	double widen; /* STUDENTISED: intervals are so much wider (0: 1), for what few values lose */
	size_t block; /* runs: see below; values: resample blocks of so many neighbours, 0 or 1: single ones */
	double *p;    /* STUDENTISED: gets the two-sided p of "it is 0", as the interval has it; NULL: is not told */
};

int stats_bootstrap_values(const double *x, size_t n, const struct stats_bootstrap *how, struct arena *arena,
		struct stats_interval *out, struct sonde_err *err);

/*
 * The statistic over runs of what of_run says of each run's values. A draw takes runs with replacement; with `block` 0
 * each as it is, else its values are drawn again too, in blocks of so many neighbours (once for all draws, which then
 * take one of some such runs each: what is drawn for one draw is as good for another). Whole runs are right
 * for the mean of run means: drawing twice counts the spread within runs twice (Davison and Hinkley, section 3.8),
 * which only STUDENTISED makes good. BCA is for block 0 only.
 */
int stats_bootstrap_runs(const struct stats_runs *runs, const struct stats_bootstrap *how, struct arena *arena,
		struct stats_interval *out, struct sonde_err *err);

#endif
