/* Bound by the CPU: as much CPU time as wall time, or more. What could be saved only the functions can tell. */
#include "analyze/finding.h"

#include <stdio.h>

static bool check(struct analyze *a, struct finding *f)
{
	int64_t wall_ns = finding_wall_ns(a), cpu_ns = finding_int(a, "cpu", "cpu_ns");
	const struct analyze_section *cpu = analyze_find(&a->result, "cpu");
	const struct analyze_table *t = cpu ? cpu->tables : NULL;

	if (cpu_ns == STORE_NULL || wall_ns <= 0 || cpu_ns < wall_ns - wall_ns / 5)
		return false;
	snprintf(f->what, sizeof(f->what), "the run is bound by the CPU");
	snprintf(f->evidence, sizeof(f->evidence), "%.3f s of CPU time in %.3f s%s%.200s", (double)cpu_ns / 1e9,
			(double)wall_ns / 1e9, t && t->rows ? ", most of it in " : "",
			t && t->rows ? t->values[0].text.data : "");
	snprintf(f->next, sizeof(f->next), "sonde summary --top 30 %s", model_run_path(a->run));
	return true;
}

const struct analyze_rule analyze_rule_cpu_bound = { .key = "cpu_bound", .check = check };
