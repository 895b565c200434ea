/* suite-plan: converts a configuration to a list of steps. */
#include "duet/schedule.h"
#include "duet/suite.h"

#include <errno.h>
#include <string.h>

static const enum duet_design designs[] = { DUET_ASYNC, DUET_SYNC, DUET_SEQ };

enum { DESIGNS = sizeof(designs) / sizeof(*designs) };

static bool is_wanted(const char *name, const char *const *only)
{
	if (!only || !*only)
		return true;
	for (; *only; only++)
		if (!strcmp(*only, name))
			return true;
	return false;
}

static size_t steps_of(const struct duet_benchmark *b, enum duet_design design)
{
	return (size_t)b->repetitions[design] * (design == DUET_SEQ ? 2 : 1);
}

/* Adds the runs of one benchmark in one design; a sequential run is two steps. */
static size_t add_steps(struct duet_step *out, const struct duet_benchmark *b, enum duet_design design, uint64_t seed)
{
	struct duet_plan plan;
	size_t n = 0;

	duet_plan_init(&plan, design, 1, false, seed);
	for (int64_t run = 0; run < b->repetitions[design]; run++) {
		struct duet_turn turn;

		duet_plan_next(&plan, &turn);
		out[n++] = (struct duet_step){ .benchmark = b,
			.design = design,
			.runid = run,
			.is_first_b = turn.is_first_b };
		if (design == DUET_SEQ)
			out[n++] = (struct duet_step){ .benchmark = b, .design = design, .runid = run, .side = DUET_B };
	}
	return n;
}

int duet_suite_plan(const struct duet_suite *s, const char *const *only, uint64_t seed, struct arena *arena,
		struct duet_step **steps, size_t *count, struct sonde_err *err)
{
	struct stats_rng rng;
	size_t total = 0, n = 0;

	for (size_t i = 0; i < s->benchmark_count; i++)
		for (size_t d = 0; d < DESIGNS && is_wanted(s->benchmarks[i].name, only); d++)
			total += steps_of(&s->benchmarks[i], designs[d]);
	*steps = arena_alloc(arena, (total + 1) * sizeof(**steps));
	if (!*steps)
		return err_sys(err, ENOMEM, "cannot plan %zu steps", total);
	for (size_t i = 0; i < s->benchmark_count; i++)
		for (size_t d = 0; d < DESIGNS && is_wanted(s->benchmarks[i].name, only); d++)
			n += add_steps(*steps + n, &s->benchmarks[i], designs[d], seed + i);
	stats_rng_init(&rng, seed, 0x5c);
	if (s->is_shuffled)
		stats_rng_shuffle(&rng, *steps, n, sizeof(**steps));
	*count = n;
	return 0;
}
