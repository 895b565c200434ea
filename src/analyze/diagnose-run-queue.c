/* Run-queue bound: threads are runnable and wait for a CPU. */
#include "analyze/finding.h"

#include <stdio.h>

static bool check(struct analyze *a, struct finding *f)
{
	int64_t life_ns = finding_int(a, "states", "life_ns"), runnable_ns = finding_int(a, "states", "runnable_ns");
	int64_t running_ns = finding_int(a, "states", "running_ns"), cpus = model_run_int(a->run, "host.cpus");

	if (runnable_ns == STORE_NULL || !finding_is_worth(a, runnable_ns) || runnable_ns < life_ns / 5 ||
			runnable_ns < running_ns / 4)
		return false;
	f->recoverable_ns = runnable_ns < finding_wall_ns(a) ? runnable_ns : finding_wall_ns(a);
	snprintf(f->what, sizeof(f->what), "threads wait for a CPU");
	snprintf(f->evidence, sizeof(f->evidence),
			"threads ran for %.3f s and were ready to run without a CPU for %.3f s, on %d CPUs",
			(double)running_ns / 1e9, (double)runnable_ns / 1e9, cpus > 0 ? (int)cpus : 0);
	finding_try(a,
			"sonde query %s \"SELECT tid, state, ns FROM states WHERE state IN ('running', 'runnable') "
			"ORDER BY ns DESC LIMIT 20\"",
			f);
	return true;
}

const struct diagnosis_rule analyze_rule_run_queue = { .key = "run_queue", .check = check };
