#include "duet/plan.h"

void duet_plan_init(struct duet_plan *p, enum duet_design design, size_t turns, bool is_pinned, uint64_t seed)
{
	turns = turns < 1 ? 1 : turns > DUET_TURNS_MAX ? DUET_TURNS_MAX : turns;
	*p = (struct duet_plan){ .design = design, .turns = turns, .is_pinned = is_pinned };
	stats_rng_init(&p->rng, seed, (uint64_t)design);
}

/* n flags of which half are set, in random order; the odd one of two runs together is set once. */
static void balance(struct duet_plan *p, bool *flags, size_t n, bool *next)
{
	bool is_second = p->made % 2 == 1;
	bool odd = is_second ? *next : stats_rng_below(&p->rng, 2) == 1;

	for (size_t i = 0; i < n; i++)
		flags[i] = i < n / 2;
	if (n % 2)
		flags[n - 1] = odd;
	*next = !odd;
	stats_rng_shuffle(&p->rng, flags, n, sizeof(*flags));
}

void duet_plan_next(struct duet_plan *p, struct duet_turn *turns)
{
	bool first[DUET_TURNS_MAX] = { false }, swapped[DUET_TURNS_MAX] = { false };

	if (p->design != DUET_SEQ)
		balance(p, first, p->turns, &p->is_first_b_next);
	if (p->is_pinned)
		balance(p, swapped, p->turns, &p->is_swapped_next);
	for (size_t i = 0; i < p->turns; i++)
		turns[i] = (struct duet_turn){ .is_first_b = first[i], .is_swapped = swapped[i] };
	p->made++;
}
