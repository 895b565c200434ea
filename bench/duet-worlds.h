/*
 * duet-worlds: simulated machines with a known true effect, and experiments on them.
 *
 * Iterations have noise of the iteration, noise of their run, and noise of the machine on both sides.
 */
#ifndef SONDE_BENCH_DUET_WORLDS_H
#define SONDE_BENCH_DUET_WORLDS_H

#include "stats/effect.h"
#include "stats/rng.h"

#include <stdbool.h>

enum { RUNS_MAX = 128, PAIRS_MAX = 20, OVERLAPS_MAX = 2 * PAIRS_MAX };

/* The pairs of one experiment, in the form that stats/ expects. */
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
	double run_sd;      /* of each side's level in a run: layout, cores */
	double correlation; /* of an iteration's noise with the previous one on its side */
	double drift;       /* of the machine in a run of 20 pairs, and random drift of the same size */
	bool is_async;      /* both sides loop freely and are paired by overlap */
	bool is_skewed;     /* noise affects only B */
	double run_memory;  /* correlation of a run's level with the previous run's */
	double quota_ms;    /* sequential commands of that length under a quota (duet-quota.h); 0: no quota */
};

extern const struct world world_normal, world_drift, world_heavy, world_lognormal, world_contaminated, world_throttled,
		world_correlated, world_async, world_skewed, world_remembering, world_third, world_fourth;

/* theta is the true ln(tB / tA). */
void make_experiment(const struct world *w, struct stats_rng *r, size_t runs, size_t pairs, double theta,
		struct experiment *e);

#endif
