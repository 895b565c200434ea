/* Page-fault bound: CPU time is spent on mapping memory, not on using it. */
#include "analyze/counter-table.h"
#include "analyze/finding.h"

#include <math.h>
#include <stdio.h>

static bool check(struct analyze *a, struct finding *f)
{
	int64_t fault_ns = finding_int(a, "cpu", "fault_ns"), sampled_ns = finding_int(a, "cpu", "sampled_ns");
	double faults = counters_most(a, "process.minor_faults");

	if (fault_ns == STORE_NULL || !finding_is_worth(a, fault_ns) || fault_ns < sampled_ns / 5)
		return false;
	f->recoverable_ns = fault_ns < finding_wall_ns(a) ? fault_ns : finding_wall_ns(a);
	snprintf(f->what, sizeof(f->what), "memory is made again and again");
	snprintf(f->evidence, sizeof(f->evidence), "%.3f s of %.3f s of CPU time went to page faults",
			(double)fault_ns / 1e9, (double)sampled_ns / 1e9);
	if (!isnan(faults))
		snprintf(f->evidence, sizeof(f->evidence),
				"%.3f s of %.3f s of CPU time went to page faults; one process had %.0f",
				(double)fault_ns / 1e9, (double)sampled_ns / 1e9, faults);
	finding_try(a,
			"sonde query %s \"SELECT f.function, count(*) n FROM sample s JOIN frame f ON f.stack = "
			"s.stack "
			"WHERE f.is_kernel = 0 AND s.is_kernel GROUP BY 1 ORDER BY n DESC LIMIT 20\"",
			f);
	return true;
}

const struct diagnosis_rule analyze_rule_page_faults = { .key = "page_faults", .check = check };
