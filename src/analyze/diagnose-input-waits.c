/* Input bound: the application loads data while nothing computes. Prefetching in other threads would hide it. */
#include "analyze/finding.h"

#include <stdio.h>

static bool check(struct analyze *a, struct finding *f)
{
	int64_t wall_ns = finding_wall_ns(a), compute_ns = finding_int(a, "layers", "compute_ns");
	int64_t alone_ns = finding_int(a, "layers", "unoverlapped_app_io_ns");

	if (compute_ns == STORE_NULL || alone_ns == STORE_NULL || !finding_is_worth(a, alone_ns) ||
			alone_ns < wall_ns / 5)
		return false;
	f->recoverable_ns = alone_ns < compute_ns ? alone_ns : compute_ns;
	snprintf(f->what, sizeof(f->what), "compute waits for input; loading ahead, in other threads, would hide it");
	snprintf(f->evidence, sizeof(f->evidence),
			"for %.3f s of %.3f s the application was loading or storing and computed nothing; "
			"it computed for %.3f s",
			(double)alone_ns / 1e9, (double)wall_ns / 1e9, (double)compute_ns / 1e9);
	finding_try(a,
			"sonde query %s \"SELECT category, name, count(*) AS spans, sum(dur_ns) AS ns FROM span "
			"GROUP BY category, name ORDER BY ns DESC LIMIT 20\"",
			f);
	return true;
}

const struct diagnosis_rule analyze_rule_input_waits = { .key = "input_waits", .check = check };
