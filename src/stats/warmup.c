/*
 * warmup: see warmup.h. White, "An effective truncation heuristic for bias
 * reduction in simulation output" (Simulation 69(6), 1997); White, Cobb and
 * Spratt, "A comparison of five steady-state truncation heuristics" (Winter
 * Simulation Conference 2000) for batches of 5.
 */
#include "stats/warmup.h"

#include "stats/order.h"
#include "stats/summary.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { BATCHES_MIN = 4, AT_LEAST_KEPT = 2 };

/* Batches from the end, so that the last values count and the first ones are those left over. */
static size_t batch_medians(const double *x, size_t n, double *medians)
{
	size_t batches = n / STATS_WARMUP_BATCH, first = n % STATS_WARMUP_BATCH;
	double values[STATS_WARMUP_BATCH];

	for (size_t i = 0; i < batches; i++) {
		memcpy(values, x + first + i * STATS_WARMUP_BATCH, sizeof(values));
		medians[i] = stats_median(values, STATS_WARMUP_BATCH);
	}
	return batches;
}

/* Batches to leave out: the fewest for which the squared standard error of the rest is least. */
static size_t best_cut(const double *medians, size_t batches)
{
	struct stats_moments rest;
	double best = INFINITY;
	size_t cut = 0;

	stats_moments_init(&rest);
	for (size_t i = batches; i > 0; i--) {
		double n, error;

		stats_moments_add(&rest, medians[i - 1]);
		if (rest.n < AT_LEAST_KEPT)
			continue;
		n = (double)rest.n;
		error = stats_variance(&rest) * (n - 1) / n / n;
		if (error <= best) {
			best = error;
			cut = i - 1;
		}
	}
	return cut;
}

int stats_warmup(const double *x, size_t n, struct arena *arena, struct stats_warmup *out, struct sonde_err *err)
{
	size_t batches, cut;
	double *medians;

	if (stats_has_nan(x, n))
		return err_set(err, EINVAL, "warm-up is looked for among numbers only");
	*out = (struct stats_warmup){ 0 };
	if (n < BATCHES_MIN * STATS_WARMUP_BATCH)
		return 0;
	medians = arena_alloc(arena, n / STATS_WARMUP_BATCH * sizeof(*medians));
	if (!medians)
		return err_sys(err, ENOMEM, "cannot look for warm-up among %zu values", n);
	batches = batch_medians(x, n, medians);
	cut = best_cut(medians, batches);
	out->is_settled = cut <= batches / 2;
	out->first = !out->is_settled ? n : cut ? cut * STATS_WARMUP_BATCH + n % STATS_WARMUP_BATCH : 0;
	return 0;
}
