/*
 * CPU bound: CPU time is at least the wall time. Time that threads were runnable counts as well, since they would
 * have used a CPU. The possible saving is estimated from the functions.
 */
#include "analyze/finding.h"

#include <stdio.h>

static bool check(struct analyze *a, struct finding *f)
{
	int64_t wall_ns = finding_wall_ns(a), cpu_ns = finding_int(a, "cpu", "cpu_ns");
	int64_t sampled_ns = finding_int(a, "cpu", "sampled_ns");
	int64_t runnable_ns = finding_int(a, "states", "runnable_ns");
	const struct analyze_section *cpu = analyze_find(&a->result, "cpu");
	const struct analyze_table *t = cpu ? cpu->tables : NULL;

	if (cpu_ns == STORE_NULL || wall_ns <= 0 || cpu_ns < wall_ns / 5 ||
			cpu_ns + (runnable_ns > 0 ? runnable_ns : 0) < wall_ns - wall_ns / 5)
		return false;
	/* Upper limit: the costliest function takes no time. */
	f->recoverable_ns = t && t->rows && sampled_ns > 0
			? (int64_t)((double)wall_ns * (double)t->values[1].integer / (double)sampled_ns)
			: wall_ns;
	snprintf(f->what, sizeof(f->what), "the run is bound by the CPU");
	snprintf(f->evidence, sizeof(f->evidence), "%.3f s of CPU time in %.3f s%s%.200s", (double)cpu_ns / 1e9,
			(double)wall_ns / 1e9, t && t->rows ? ", most of it in " : "",
			t && t->rows ? t->values[0].text.data : "");
	finding_try(a, "sonde summary --top 30 %s", f);
	return true;
}

const struct diagnosis_rule analyze_rule_cpu_bound = { .key = "cpu_bound", .check = check };
