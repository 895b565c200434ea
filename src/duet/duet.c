#include "duet/duet.h"

#include "stats/summary.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

const char *const duet_design_names
		[] = { [DUET_SEQ] = "seq", [DUET_RMIT] = "rmit", [DUET_SYNC] = "sync", [DUET_ASYNC] = "async", NULL };

const char *const duet_design_titles[] = {
	[DUET_SEQ] = "in turn",
	[DUET_RMIT] = "in turn in random order",
	[DUET_SYNC] = "side by side in step",
	[DUET_ASYNC] = "side by side",
	NULL,
};

const char *const duet_metric_names[] = {
#define METRIC_NAME(NAME, name, what) #name,
	DUET_METRIC_ROWS(METRIC_NAME)
#undef METRIC_NAME
			NULL,
};

const char *const duet_interval_names[] = { "auto", "t", "ranks", "signs", "bootstrap", NULL };

const enum stats_effect_method duet_interval_methods[] = { STATS_AUTO, STATS_STUDENT, STATS_RANKS, STATS_SIGNS,
	STATS_HIERARCHICAL };

struct duet_iteration duet_iteration_at(int64_t start_ns, int64_t end_ns)
{
	struct duet_iteration it = { .start_ns = start_ns, .end_ns = end_ns };

	for (size_t i = 0; i < DUET_METRICS; i++)
		it.metrics[i] = NAN;
	if (end_ns > start_ns)
		it.metrics[DUET_WALL] = (double)(end_ns - start_ns);
	return it;
}

int duet_samples_add(struct duet_samples *s, const struct duet_iteration *iteration)
{
	if (s->count == s->capacity) {
		size_t capacity = s->capacity ? 2 * s->capacity : 8;
		struct duet_iteration *items = reallocarray(s->items, capacity, sizeof(*items));

		if (!items)
			return -ENOMEM;
		s->items = items;
		s->capacity = capacity;
	}
	s->items[s->count++] = *iteration;
	return 0;
}

void duet_samples_release(struct duet_samples *s)
{
	free(s->items);
	*s = (struct duet_samples){ 0 };
}

void duet_run_release(struct duet_run *run)
{
	for (size_t side = 0; side < DUET_SIDES; side++)
		duet_samples_release(&run->sides[side]);
}

static size_t count_iterations(const struct duet_run *runs, size_t count, enum duet_side side)
{
	size_t n = 0;

	for (size_t r = 0; r < count; r++)
		n += runs[r].sides[side].count;
	return n;
}

double duet_metric_median(const struct duet_run *runs, size_t count, enum duet_side side, enum duet_metric metric)
{
	size_t n = count_iterations(runs, count, side), used = 0;
	double *x = n ? reallocarray(NULL, n, sizeof(*x)) : NULL, median;

	if (!x)
		return NAN;
	for (size_t r = 0; r < count; r++)
		for (size_t i = 0; i < runs[r].sides[side].count; i++)
			if (isfinite(runs[r].sides[side].items[i].metrics[metric]))
				x[used++] = runs[r].sides[side].items[i].metrics[metric];
	median = used ? stats_median(x, used) : NAN;
	free(x);
	return median;
}
