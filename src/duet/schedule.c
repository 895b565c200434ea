#include "duet/schedule.h"

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
