/*
 * Imbalance: of the processes of one program one spends far more time on its
 * files than the others, which wait for it or idle.
 */
#include "analyze/finding.h"

#include <inttypes.h>
#include <stdio.h>

/* A process's time in calls on files; groups are sorted, *i moves on. */
static int64_t next_process(const struct engine_groups *g, size_t *i, int64_t *number)
{
	int64_t ns = 0;

	*number = engine_key(g, *i, 0);
	for (; *i < g->count && engine_key(g, *i, 0) == *number; ++*i)
		if (io_is_file_kind(engine_key(g, *i, 1)))
			ns += engine_sum(g, IO_Q_DUR, *i);
	return ns;
}

static bool check(struct analyze *a, struct finding *f)
{
	const struct analyze_io *io = analyze_state(a, "io");
	const struct engine_groups *g = analyze_groups(a, STORE_TABLE_IO, io->by_process);
	int64_t sum_ns = 0, most_ns = 0, most = 0, number, mean_ns;
	size_t count = 0;

	for (size_t i = 0; i < g->count; count++) {
		int64_t ns = next_process(g, &i, &number);

		sum_ns += ns;
		if (ns > most_ns) {
			most_ns = ns;
			most = number;
		}
	}
	if (count < 3)
		return false; /* a parent and its child are no team */
	mean_ns = (sum_ns - most_ns) / (int64_t)(count - 1);
	if (most_ns < 3 * mean_ns || most_ns - mean_ns < finding_wall_ns(a) / 10 ||
			!finding_is_worth(a, most_ns - mean_ns))
		return false;
	f->recoverable_ns = most_ns - sum_ns / (int64_t)count;
	snprintf(f->what, sizeof(f->what), "one process does most of the input and output");
	snprintf(f->evidence, sizeof(f->evidence),
			"process %" PRId64 " spent %.3f s in calls on files, the %zu others %.3f s each", most,
			(double)most_ns / 1e9, count - 1, (double)mean_ns / 1e9);
	finding_try(a, "sonde summary --json %s | jq .io.by_process", f);
	return true;
}

const struct analyze_rule analyze_rule_imbalance = { .key = "imbalance", .check = check };
