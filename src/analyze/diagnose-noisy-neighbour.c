/*
 * Noisy neighbour: threads are runnable while the CPUs run processes outside this run, or a hypervisor has stolen
 * them.
 */
#include "analyze/counter-table.h"
#include "analyze/finding.h"

#include <stdio.h>

/* CPU time of all processes on the machine; NaN: not recorded. */
static double busy_ns(const struct analyze *a)
{
	static const char *const names[] = { "cpu.all.user_ns", "cpu.all.nice_ns", "cpu.all.system_ns" };
	double sum = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		sum += counters_most(a, names[i]);
	return sum;
}

static bool check(struct analyze *a, struct finding *f)
{
	int64_t wall_ns = finding_wall_ns(a), own_ns = finding_int(a, "cpu", "cpu_ns");
	int64_t runnable_ns = finding_int(a, "states", "runnable_ns"), cpus = model_run_int(a->run, "host.cpus");
	double steal_ns = counters_most(a, "cpu.all.steal_ns"), others_ns = busy_ns(a) - (double)own_ns;
	double stall_ns = counters_most(a, "pressure.cpu.some.stall_ns");
	bool is_stolen, is_crowded;

	if (wall_ns <= 0 || cpus < 1 || a->opts.has_range)
		return false;
	is_stolen = steal_ns > 0.05 * (double)wall_ns * (double)cpus;
	is_crowded = own_ns != STORE_NULL && runnable_ns != STORE_NULL && runnable_ns > wall_ns / 5 &&
			others_ns > 0.3 * (double)wall_ns && others_ns > (double)own_ns;
	if (!is_stolen && !is_crowded)
		return false;
	f->recoverable_ns = is_crowded ? runnable_ns : (int64_t)(steal_ns / (double)cpus);
	f->recoverable_ns = f->recoverable_ns < wall_ns ? f->recoverable_ns : wall_ns;
	snprintf(f->what, sizeof(f->what), "others use the CPUs that this run needs");
	snprintf(f->evidence, sizeof(f->evidence),
			"others used %.3f s of CPU time, this run %.3f s while its threads waited %.3f s for a "
			"CPU; stolen "
			"%.3f s; the machine was short of CPUs for %.3f s",
			others_ns > 0 ? others_ns / 1e9 : 0, own_ns > 0 ? (double)own_ns / 1e9 : 0,
			runnable_ns > 0 ? (double)runnable_ns / 1e9 : 0, steal_ns > 0 ? steal_ns / 1e9 : 0,
			stall_ns > 0 ? stall_ns / 1e9 : 0);
	snprintf(f->next, sizeof(f->next), "ps -eo pid,pcpu,comm --sort=-pcpu");
	return true;
}

const struct diagnosis_rule analyze_rule_noisy_neighbour = { .key = "noisy_neighbour", .check = check };
