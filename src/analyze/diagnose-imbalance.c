/*
 * Imbalance: of the processes of one program one spends far more time on its
 * files than the others, which wait for it or idle. A pipe is no file: who reads one waits for the process that writes.
 */
#include "analyze/finding.h"
#include "analyze/layers.h"

#include <inttypes.h>
#include <stdio.h>

/* What a process executes; STORE_NULL: not known, as in traces from elsewhere. */
static int64_t program_of(const struct analyze *a, int64_t number)
{
	const struct store_process *p = model_process(a->run, number);

	return p ? p->exe : STORE_NULL;
}

/* The processes of one program: how many there are, their time, and the one with most of it. */
struct team {
	size_t count;
	int64_t sum_ns, most_ns, most;
};

/* is_any: of whatever programs. */
static struct team look(struct analyze *a, bool is_any, int64_t program)
{
	struct team t = { .count = 0 };
	int64_t number, ns;

	for (size_t at = 0; layers_next_process(a, &at, &number, &ns);) {
		if (!is_any && program_of(a, number) != program)
			continue;
		t.count++;
		t.sum_ns += ns;
		t.most = ns > t.most_ns ? number : t.most;
		t.most_ns = ns > t.most_ns ? ns : t.most_ns;
	}
	return t;
}

static bool check(struct analyze *a, struct finding *f)
{
	struct team all = look(a, true, 0), t = look(a, false, program_of(a, all.most));
	int64_t mean_ns;

	if (t.count < 3)
		return false; /* a parent and its child are no team */
	mean_ns = (t.sum_ns - t.most_ns) / (int64_t)(t.count - 1);
	if (t.most_ns < 3 * mean_ns || t.most_ns - mean_ns < finding_wall_ns(a) / 10 ||
			!finding_is_worth(a, t.most_ns - mean_ns))
		return false;
	f->recoverable_ns = t.most_ns - t.sum_ns / (int64_t)t.count;
	snprintf(f->what, sizeof(f->what), "one process does most of the input and output");
	snprintf(f->evidence, sizeof(f->evidence),
			"process %" PRId64 " spent %.3f s in calls on files, the %zu others of its program %.3f s each",
			t.most, (double)t.most_ns / 1e9, t.count - 1, (double)mean_ns / 1e9);
	finding_try(a,
			"sonde query %s \"SELECT process, call, count(*) AS calls, sum(dur_ns) AS ns, sum(bytes) "
			"AS bytes FROM io GROUP BY process, call ORDER BY ns DESC LIMIT 20\"",
			f);
	return true;
}

const struct analyze_rule analyze_rule_imbalance = { .key = "imbalance", .check = check };
