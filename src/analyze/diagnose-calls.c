/* Diagnosis rules about calls on files: too small, too often, by one process of a team. */
#include "analyze/finding.h"
#include "base/cleanup.h"
#include "base/map.h"

#include <inttypes.h>
#include <stdio.h>

#define PATH_SHOWN 300 /* bytes of a path in the evidence */

static int shown(const struct store_text *path)
{
	return (int)(path->bytes < PATH_SHOWN ? path->bytes : PATH_SHOWN);
}

/* Small accesses. */

#define TINY_CALLS_MIN 1000 /* minimum for a finding */
#define LARGE_BYTES 65536

/*
 * A file that is read or written a few bytes at a time costs a system call each time; accesses of 64 KiB would need
 * few. Calls buffered by stdio do not count, however small.
 */
static bool check_tiny(struct analyze *a, enum call_kind kind, const char *word, struct finding *f)
{
	struct finding_path p, worst = { .count = 0 };
	int64_t all_ns = 0, most_ns = 0;
	size_t at = 0, files = 0;

	while (finding_next_path(a, kind, &at, &p)) {
		uint64_t large = (uint64_t)p.bytes / LARGE_BYTES + 1;
		int64_t ns = large < p.count ? (int64_t)((double)p.dur_ns * (1 - (double)large / (double)p.count)) : 0;

		if (p.count < TINY_CALLS_MIN || 2 * p.buffered > p.count ||
				(uint64_t)p.bytes >= p.count * ANALYZE_SMALL_BYTES)
			continue;
		all_ns += ns;
		files++;
		if (ns >= most_ns) {
			most_ns = ns;
			worst = p;
		}
	}
	if (!worst.count || !finding_is_worth(a, all_ns))
		return false;
	finding_range_of(a, kind, f);
	finding_try_path(a, &worst.path, f);
	snprintf(f->what, sizeof(f->what), "%zu %s %s a few bytes at a time", files,
			files == 1 ? "file is" : "files are", word);
	return finding_fill(f, all_ns, NULL, "%" PRIu64 " calls on %.*s moved %" PRId64 " bytes each and took %.3f s",
			worst.count, shown(&worst.path), worst.path.data, worst.bytes / (int64_t)worst.count,
			(double)worst.dur_ns / 1e9);
}

bool diagnose_tiny_reads(struct analyze *a, struct finding *f)
{
	return check_tiny(a, CALL_KIND_READ, "read", f);
}

bool diagnose_tiny_writes(struct analyze *a, struct finding *f)
{
	return check_tiny(a, CALL_KIND_WRITE, "written", f);
}

/* Repeated calls. */

/* Reports paths with at least `min` calls per process: one call in each would do. */
static bool check_repeated(struct analyze *a, enum call_kind kind, uint64_t min, const char *word, struct finding *f)
{
	struct finding_path p, worst = { .count = 0 };
	int64_t all_ns = 0;
	size_t at = 0, files = 0, processes;

	model_processes(a->run, &processes);
	processes = processes ? processes : 1; /* imported traces may have none */
	while (finding_next_path(a, kind, &at, &p)) {
		if (p.count < min * processes)
			continue;
		files++;
		all_ns += (int64_t)((double)p.dur_ns * (1 - (double)processes / (double)p.count));
		if (p.dur_ns > worst.dur_ns)
			worst = p;
	}
	if (!finding_is_worth(a, all_ns))
		return false;
	finding_range_of(a, kind, f);
	finding_try_path(a, &worst.path, f);
	snprintf(f->what, sizeof(f->what), "%zu %s %s repeatedly", files, files == 1 ? "path is" : "paths are", word);
	return finding_fill(f, all_ns, NULL, "%.*s was %s %" PRIu64 " times, which took %.3f s", shown(&worst.path),
			worst.path.data, word, worst.count, (double)worst.dur_ns / 1e9);
}

/* Keep the files open. */
bool diagnose_repeated_opens(struct analyze *a, struct finding *f)
{
	return check_repeated(a, CALL_KIND_OPEN, 50, "opened", f);
}

/* Cache the result. */
bool diagnose_repeated_stats(struct analyze *a, struct finding *f)
{
	return check_repeated(a, CALL_KIND_STAT, 100, "looked up", f);
}

/*
 * Imbalance: one of the processes that share a job spends far more time on its files than the others, which wait for
 * it or idle. Processes that share a job run the same program at the same fork depth: the parent of workers has a
 * different job. Pipes are not counted: a reader waits for the writer.
 */
#define ANCESTORS_MAX 64 /* maximum fork depth searched; a corrupt run may have cycles of parents */
#define TEAM_MIN 3

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

static bool is_uneven(const struct analyze *a, const struct team *t)
{
	if (t->count < TEAM_MIN)
		return false;
	int64_t more_ns = t->most_ns - mean_of_others(t);
	return t->most_ns >= 3 * mean_of_others(t) && more_ns >= finding_wall_ns(a) / 10 &&
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

bool diagnose_imbalance(struct analyze *a, struct finding *f)
{
	size_t count;
	struct team *teams = teams_of(a, &count), *t = NULL;

	for (size_t i = 0; teams && i < count; i++)
		if (is_uneven(a, &teams[i]) && (!t || teams[i].most_ns > t->most_ns))
			t = &teams[i];
	if (!t)
		return false;
	finding_try(a,
			"sonde query %s \"SELECT process, call, count(*) AS calls, sum(dur_ns) AS ns, sum(bytes) "
			"AS bytes FROM io GROUP BY process, call ORDER BY ns DESC LIMIT 20\"",
			f);
	return finding_fill(f, t->most_ns - t->sum_ns / t->count, "one process does most of the input and output",
			"process %" PRId64 " spent %.3f s in calls on files, the %" PRId64 " other workers %.3f s each",
			t->most, (double)t->most_ns / 1e9, t->count - 1, (double)mean_of_others(t) / 1e9);
}
