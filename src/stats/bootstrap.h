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

struct stats_bootstrap {
	enum stats_bootstrap_kind kind;
	double level;
	size_t draws; /* 0: 1999; at most 10^7 */
	uint64_t seed;
	stats_statistic *statistic; /* NULL: mean; of the values, or of each run's */
	stats_statistic *se;        /* STUDENTISED: its standard error; NULL: by leaving out one value at a time */
	const void *context;
	size_t block; /* runs: see below; values: resample blocks of so many neighbours, 0 or 1: single ones */
};

int stats_bootstrap_values(const double *x, size_t n, const struct stats_bootstrap *how, struct arena *arena,
		struct stats_interval *out, struct sonde_err *err);

/*
 * The mean over runs of the statistic of each run's values. A draw takes runs
 * with replacement; with `block` 0 each as it is, else its values are drawn again
 * too, in blocks of so many neighbours. Whole runs are right for the mean of run
 * means: drawing twice counts the spread within runs twice (Davison and Hinkley,
 * section 3.8), which only STUDENTISED makes good. Weights are not used. BCA is
 * for block 0 only.
 */
int stats_bootstrap_runs(const struct stats_runs *runs, const struct stats_bootstrap *how, struct arena *arena,
		struct stats_interval *out, struct sonde_err *err);

#endif
