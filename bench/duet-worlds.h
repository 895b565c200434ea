/*
 * duet-worlds: made-up machines whose truth is known, and the experiments that are made on them.
 *
 * Iterations have noise of their own, noise of their run, and noise that the machine puts on both sides.
 */
#ifndef SONDE_BENCH_DUET_WORLDS_H
#define SONDE_BENCH_DUET_WORLDS_H

#include "stats/rng.h"
#include "stats/runs.h"

#include <stdbool.h>

enum { RUNS_MAX = 128, PAIRS_MAX = 20, OVERLAPS_MAX = 2 * PAIRS_MAX };

/* One experiment's pairs, and the way they are told to stats/. */
struct experiment {
	double x[RUNS_MAX * OVERLAPS_MAX], weight[RUNS_MAX * OVERLAPS_MAX];
	size_t first[RUNS_MAX + 1];
	struct stats_runs runs;
};

/* Noise of one iteration, as a logarithm of its time. */
typedef double noise_fn(struct stats_rng *r);

struct world {
	const char *name;
	noise_fn *noise;
	double run_sd;      /* of each side's own level in a run: layout, cores */
	double correlation; /* of an iteration's noise with the one before on its side */
	double drift;       /* of the machine in a run of 20 pairs, and as much at random */
	bool is_async;      /* both sides loop freely and are paired by overlap */
	bool is_skewed;     /* noise falls on B alone */
	double run_memory;  /* correlation of a run's level with the run before */
	double quota_ms;    /* commands of that length, one after the other under a quota (duet-quota.h); 0: no quota */
};

extern const struct world world_normal, world_drift, world_heavy, world_lognormal, world_contaminated, world_throttled,
		world_correlated, world_async, world_skewed, world_remembering, world_third, world_fourth;

/* theta is the true ln(tB / tA). */
void make_experiment(const struct world *w, struct stats_rng *r, size_t runs, size_t pairs, double theta,
		struct experiment *e);

#endif
