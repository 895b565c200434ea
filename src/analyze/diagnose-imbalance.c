/*
 * Imbalance: one of the processes that share a job spends far more time on its files than the others, which wait for
 * it or idle. Processes that share a job run the same program at the same fork depth: the parent of workers has a
 * different job. Pipes are not counted: a reader waits for the writer.
 */
#include "analyze/finding.h"
#include "analyze/layers.h"
#include "base/cleanup.h"
#include "base/map.h"

#include <inttypes.h>
#include <stdio.h>

#define ANCESTORS_MAX 64 /* maximum fork depth searched; a corrupt run may have cycles of parents */

/* Program and fork depth: equal for the processes of a team. */
struct role {
	int64_t program;    /* STORE_NULL: unknown, as in imported traces */
	int64_t generation; /* ancestors that run the same program */
};

static struct role role_of(const struct analyze *a, int64_t number)
{
	const struct store_process *p = model_process(a->run, number), *above = p;
	struct role role = { p ? p->exe : STORE_NULL, 0 };

	for (unsigned i = 0; above && i < ANCESTORS_MAX; i++) {
		const struct store_process *parent = model_process(a->run, above->parent);

		/* An exec does not make another process. */
		if (parent && parent->pid != above->pid && parent->exe == role.program)
			role.generation++;
		above = parent;
	}
	return role;
}

/* The processes of one role: their number, total time, and the one with the most time. */
struct team {
	int64_t count, sum_ns, most_ns, most;
};

static int64_t mean_of_others(const struct team *t)
{
	return (t->sum_ns - t->most_ns) / (t->count - 1);
}

/* Two processes are too few for a team. */
static bool is_uneven(const struct analyze *a, const struct team *t)
{
	int64_t more_ns = t->count < 3 ? 0 : t->most_ns - mean_of_others(t);

	return t->count >= 3 && t->most_ns >= 3 * mean_of_others(t) && more_ns >= finding_wall_ns(a) / 10 &&
			finding_is_worth(a, more_ns);
}

/* Returns the teams of a run, in the analysis' arena; NULL: out of memory. */
static struct team *teams_of(struct analyze *a, size_t *count)
{
	CLEANUP(map_release) struct map roles = MAP_INIT; /* -> number of the team, from 1 */
	struct team *teams;
	int64_t number, ns;
	size_t processes = 0;

	for (size_t at = 0; layers_next_process(a, &at, &number, &ns);)
		processes++;
	teams = arena_alloc(&a->arena, (processes + 1) * sizeof(*teams));
	*count = 0;
	for (size_t at = 0; teams && layers_next_process(a, &at, &number, &ns);) {
		struct role role = role_of(a, number);
		uint64_t *place = map_put(&roles, &role, sizeof(role), NULL);
		struct team *t;

		if (!place)
			return NULL;
		*place = *place ? *place : ++*count;
		t = &teams[*place - 1];
		t->count++;
		t->sum_ns += ns;
		t->most = ns > t->most_ns ? number : t->most;
		t->most_ns = ns > t->most_ns ? ns : t->most_ns;
	}
	return teams;
}

static bool check(struct analyze *a, struct finding *f)
{
	size_t count;
	struct team *teams = teams_of(a, &count), *t = NULL;

	for (size_t i = 0; teams && i < count; i++)
		if (is_uneven(a, &teams[i]) && (!t || teams[i].most_ns > t->most_ns))
			t = &teams[i];
	if (!t)
		return false;
	f->recoverable_ns = t->most_ns - t->sum_ns / t->count;
	snprintf(f->what, sizeof(f->what), "one process does most of the input and output");
	snprintf(f->evidence, sizeof(f->evidence),
			"process %" PRId64 " spent %.3f s in calls on files, the %" PRId64
			" others that do the same work %.3f s each",
			t->most, (double)t->most_ns / 1e9, t->count - 1, (double)mean_of_others(t) / 1e9);
	finding_try(a,
			"sonde query %s \"SELECT process, call, count(*) AS calls, sum(dur_ns) AS ns, sum(bytes) "
			"AS bytes FROM io GROUP BY process, call ORDER BY ns DESC LIMIT 20\"",
			f);
	return true;
}

const struct diagnosis_rule analyze_rule_imbalance = { .key = "imbalance", .check = check };
