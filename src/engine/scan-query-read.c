/* Reading the aggregates of a group. */
#include "engine/aggregate.h"
#include "store/schema.h"

#include <math.h>

static const void *state(const struct engine_groups *g, unsigned a, size_t i)
{
	return (const char *)g->states[a] + i * aggregate_ops[g->query->aggregates[a].op].bytes;
}

uint64_t engine_count(const struct engine_groups *g, unsigned a, size_t i)
{
	const void *s = state(g, a, i);

	switch (g->query->aggregates[a].op) {
	case ENGINE_COUNT:
		return *(const uint64_t *)s;
	case ENGINE_SUM:
	case ENGINE_TIME:
		return ((const struct sum_state *)s)->count;
	case ENGINE_MIN:
	case ENGINE_MAX:
		return ((const struct extreme_state *)s)->count;
	case ENGINE_MOMENTS:
		return ((const struct moments_state *)s)->count;
	case ENGINE_QUANTILES:
		return ((const struct stats_sketch *)s)->count;
	case ENGINE_SUM_REAL:
		return ((const struct exactsum *)s)->count;
	default:
		return 0;
	}
}

static int64_t held(engine_wide v)
{
	return v > INT64_MAX ? INT64_MAX : v < -INT64_MAX ? -INT64_MAX : (int64_t)v;
}

int64_t engine_sum(const struct engine_groups *g, unsigned a, size_t i)
{
	return held(((const struct sum_state *)state(g, a, i))->sum);
}

bool engine_sum_is_below(const struct engine_groups *g, unsigned a, size_t i, double limit)
{
	const struct sum_state *s = state(g, a, i);

	/* Without negative values no partial sum exceeds the whole. */
	if (!(s->bits & 1))
		return (double)s->sum < limit;
	return ((double)(s->bits >> 1) + 1) * (double)s->count < limit;
}

int64_t engine_extreme(const struct engine_groups *g, unsigned a, size_t i)
{
	const struct extreme_state *s = state(g, a, i);

	return s->count ? s->value : STORE_NULL;
}

double engine_mean(const struct engine_groups *g, unsigned a, size_t i)
{
	double n = (double)engine_count(g, a, i);
	const void *s = state(g, a, i);

	if (n == 0)
		return NAN;
	if (g->query->aggregates[a].op == ENGINE_SUM_REAL)
		return exactsum_value(s) / n;
	if (g->query->aggregates[a].op == ENGINE_MOMENTS)
		return (double)((const struct moments_state *)s)->sum / n;
	return (double)((const struct sum_state *)s)->sum / n;
}

/* n * squares - sum^2 in doubles would cancel: subtract the mean in integers first. */
double engine_variance(const struct engine_groups *g, unsigned a, size_t i)
{
	const struct moments_state *s = state(g, a, i);
	engine_wide count = (engine_wide)s->count, mean, rest, about;

	if (s->count < 2)
		return NAN;
	mean = s->sum / count;
	rest = s->sum - mean * count;                               /* sum of (x - mean) */
	about = s->squares - mean * mean * count - 2 * mean * rest; /* sum of (x - mean)^2 */
	return ((double)about - (double)rest * (double)rest / (double)s->count) / (double)(s->count - 1);
}

const struct stats_sketch *engine_sketch(const struct engine_groups *g, unsigned a, size_t i)
{
	return g->has_no_quantiles ? NULL : state(g, a, i);
}

double engine_quantile(const struct engine_groups *g, unsigned a, size_t i, double p)
{
	const struct stats_sketch *s = engine_sketch(g, a, i);

	return s ? stats_sketch_quantile(s, p) : NAN;
}

uint64_t engine_distinct(const struct engine_groups *g, unsigned a, size_t i)
{
	return distinct_count(state(g, a, i));
}

uint64_t engine_distinct_of(const struct engine_group *some, size_t count)
{
	struct distinct all = { 0 };
	uint64_t found = 0;

	for (size_t i = 0; i < count && found != SIZE_MAX; i++)
		if (distinct_merge(&all, state(some[i].groups, some[i].aggregate, some[i].index)) < 0)
			found = SIZE_MAX;
	found = found == SIZE_MAX ? found : distinct_count(&all);
	distinct_release(&all);
	return found;
}

const struct interval_set *interval_set(const struct engine_groups *g, unsigned a, size_t i)
{
	return state(g, a, i);
}
