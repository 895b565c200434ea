/*
 * pairs: the log-ratios of a run, from the iterations of its two sides.
 *
 * seq, rmit and sync pair the k-th iteration of A with the k-th of B; what has no
 * partner is left out and counted. async pairs what overlapped (stats/overlap.h),
 * weighted by the time both shared; an iteration during which the other side was
 * not running throughout (the first and last ones) met another machine than its
 * partners and is left out.
 *
 * Iterations of a loop inside a program warm up: those before the later of the two
 * sides' steady states go (stats/warmup.h). A side that never settles keeps its
 * second half, and that is said.
 */
#ifndef SONDE_DUET_PAIRS_H
#define SONDE_DUET_PAIRS_H

#include "base/arena.h"
#include "base/err.h"
#include "duet/duet.h"
#include "stats/runs.h"

struct duet_pairing {
	enum duet_metric metric;
	const char *counter; /* "counter:NAME": VALUE is that counter of recorded runs; NULL: what iterations report */
	bool has_warmup;     /* iterations are of a loop and may warm up */
	double min_overlap;  /* async; 0: STATS_OVERLAP_RATE */
	bool is_more_better; /* of the metric: ratios are turned around, so that above 1 is worse */
};

#define DUET_COUNTER_PREFIX "counter:"

/* "wall", "counter:NAME" */
const char *duet_metric_name(const struct duet_pairing *how);

/* Pairs by run, as stats_effect takes them. */
struct duet_pairs {
	double *x, *weight;
	size_t *first; /* runs + 1 */
	size_t *a, *b; /* which iterations: indices in the run's sides */
	size_t runs, count;
	size_t unpaired;  /* iterations without a partner, of the steady ones */
	size_t warmup;    /* iterations left out because their side had not settled */
	size_t unsettled; /* sides of runs that never did */
	size_t missing;   /* pairs of which a side does not know the metric, or it is not above 0 */
	/* private */
	size_t capacity;
};

/* Everything from the arena. Runs may be of different designs. 0, -ENOMEM. */
int duet_pairs_make(struct duet_pairs *out, const struct duet_run *runs, size_t count, const struct duet_pairing *how,
		struct arena *arena, struct sonde_err *err);
struct stats_runs duet_pairs_runs(const struct duet_pairs *pairs);

#endif
