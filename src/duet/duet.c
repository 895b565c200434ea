#include "duet/duet.h"

#include "base/vec.h"
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
	if (!VEC_GROW(s->items, s->capacity, s->count + 1, VEC_MAX))
		return -ENOMEM;
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

double duet_metric_median(const struct duet_run *runs, size_t count, enum duet_side side, enum duet_metric metric)
{
	size_t n = 0, used = 0;
	double *x, median;

	for (size_t r = 0; r < count; r++)
		n += runs[r].sides[side].count;
	x = n ? reallocarray(NULL, n, sizeof(*x)) : NULL;
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

void duet_plan_init(struct duet_plan *p, enum duet_design design, size_t turns, bool is_pinned, uint64_t seed)
{
	turns = turns < 1 ? 1 : turns > DUET_TURNS_MAX ? DUET_TURNS_MAX : turns;
	*p = (struct duet_plan){ .design = design, .turns = turns, .is_pinned = is_pinned, .group = 2 };
	stats_rng_init(&p->rng, seed, (uint64_t)design);
}

/* Sets half of the n flags, in random order; if n is odd, the remaining one is set in half of the runs of a group. */
static void balance(struct duet_plan *p, bool *flags, size_t n, bool odd[DUET_GROUP_MAX])
{
	if (p->in_group == 0) {
		for (size_t i = 0; i < p->group; i++)
			odd[i] = i < p->group / 2;
		stats_rng_shuffle(&p->rng, odd, p->group, sizeof(*odd));
	}
	for (size_t i = 0; i < n; i++)
		flags[i] = i < n / 2;
	if (n % 2)
		flags[n - 1] = odd[p->in_group];
	stats_rng_shuffle(&p->rng, flags, n, sizeof(*flags));
}

void duet_plan_next(struct duet_plan *p, struct duet_turn *turns)
{
	bool first[DUET_TURNS_MAX] = { false }, swapped[DUET_TURNS_MAX] = { false };

	if (p->design != DUET_SEQ)
		balance(p, first, p->turns, p->odd_first_b);
	if (p->is_pinned)
		balance(p, swapped, p->turns, p->odd_swapped);
	for (size_t i = 0; i < p->turns; i++)
		turns[i] = (struct duet_turn){ .is_first_b = first[i], .is_swapped = swapped[i] };
	p->made++;
	if (++p->in_group == p->group) {
		p->in_group = 0;
		p->group = p->group < DUET_GROUP_MAX ? 2 * p->group : DUET_GROUP_MAX;
	}
}
