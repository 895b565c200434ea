#include "tune/early-stop.h"

#include "stats/summary.h"

#include <math.h>

enum { OTHERS_MIN = 5, ASHA_FIRST = 2, ASHA_SHARE = 3 };

size_t tune_rungs(const struct tune_step *steps, size_t count, bool is_maximized, double *rungs)
{
	double best = INFINITY;
	size_t n = 0;

	for (size_t i = 0; i < count && n < TUNE_RUNGS_MAX; i++) {
		double cost = is_maximized ? -steps[i].value : steps[i].value;

		best = fmin(best, cost);
		if (i + 1 == (size_t)1 << n)
			rungs[n++] = is_maximized ? -best : best;
	}
	return n;
}

/* The costs of the other trials at this rung. */
static size_t others_at(const struct tune_optimizer *o, size_t rung, bool is_maximized, double *costs)
{
	size_t n = 0;

	for (size_t t = 0; t < o->count; t++) {
		const struct tune_result *r = &o->trials[t].result;

		if (r->state != TUNE_PENDING && r->rung_count > rung && isfinite(r->rungs[rung]))
			costs[n++] = is_maximized ? -r->rungs[rung] : r->rungs[rung];
	}
	return n;
}

double tune_expected_end(const struct tune_optimizer *o, const double *rungs, size_t count, bool is_maximized,
		struct arena *scratch)
{
	double *came = arena_alloc(scratch, (o->count + 1) * sizeof(*came)), best = INFINITY, end;
	size_t n = 0;

	for (size_t t = 0; came && count && t < o->count; t++) {
		const struct tune_result *r = &o->trials[t].result;

		if (r->state != TUNE_DONE || r->rung_count < count || !isfinite(r->rungs[count - 1]))
			continue;
		came[n++] = r->values[0] - r->rungs[count - 1];
		best = fmin(best, is_maximized ? -r->values[0] : r->values[0]);
	}
	if (!n)
		return NAN;
	end = rungs[count - 1] + stats_median(came, n);
	return is_maximized ? fmin(end, -best) : fmax(end, best);
}

bool tune_should_stop(enum tune_stop rule, const struct tune_optimizer *o, const double *rungs, size_t count,
		bool is_maximized, struct arena *scratch)
{
	double *costs = arena_alloc(scratch, (o->count + 1) * sizeof(*costs)), own;
	size_t n;

	if (rule == TUNE_STOP_NONE || !count || !costs)
		return false;
	n = others_at(o, count - 1, is_maximized, costs);
	own = is_maximized ? -rungs[count - 1] : rungs[count - 1];
	if (isnan(own))
		return true;
	if (rule == TUNE_STOP_MEDIAN)
		return n >= OTHERS_MIN && own > stats_median(costs, n);
	if (count - 1 < ASHA_FIRST || (count - 1) % 2 || n + 1 < ASHA_SHARE)
		return false;
	return own > stats_quantile(costs, n, 1.0 / ASHA_SHARE);
}
