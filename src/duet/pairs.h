/*
 * pairs: the log-ratios of a run, from the iterations of its two sides.
 *
 * seq, rmit and sync pair the k-th iteration of A with the k-th of B; iterations without a partner are excluded and
 * counted. async pairs iterations that overlap (stats/overlap.h), weighted by the shared time; an iteration during
 * which the other side did not run all the time (the first and last ones) had other conditions than its partners and
 * is excluded.
 *
 * Iterations of a loop inside a program warm up: those before the later of the two sides' steady states are excluded
 * (stats/series.h). A side that never settles keeps its second half, which is reported.
 */
#ifndef SONDE_DUET_PAIRS_H
#define SONDE_DUET_PAIRS_H

#include "base/arena.h"
#include "base/err.h"
#include "duet/duet.h"
#include "stats/effect.h"

struct duet_pairing {
	enum duet_metric metric;
	const char *counter; /* "counter:NAME": VALUE is that counter of recorded runs; NULL: reported values */
	bool has_warmup;     /* iterations are of a loop and may warm up */
	double min_overlap;  /* async; 0: STATS_OVERLAP_RATE */
	bool is_more_better; /* of the metric: ratios are inverted, so that above 1 is worse */
};

#define DUET_COUNTER_PREFIX "counter:"

/* "wall", "counter:NAME" */
const char *duet_metric_name(const struct duet_pairing *how);

/* Pairs by run, the input of stats_effect. */
struct duet_pairs {
	double *x, *weight;
	size_t *first; /* runs + 1 */
	size_t *a, *b; /* iterations: indexes in the run's sides */
	size_t runs, count;
	size_t unpaired;  /* steady iterations without a partner */
	size_t warmup;    /* iterations excluded as warm-up */
	size_t unsettled; /* sides of runs that never settled */
	size_t missing;   /* pairs with an unknown or non-positive metric on a side */
	/* private */
	size_t capacity;
};

/* All memory is from the arena. Runs may have different designs. 0, -ENOMEM. */
int duet_pairs_make(struct duet_pairs *out, const struct duet_run *runs, size_t count, const struct duet_pairing *how,
		struct arena *arena, struct sonde_err *err);
struct stats_runs duet_pairs_runs(const struct duet_pairs *pairs);

#endif
