/*
 * I/O bound: most of the time I/O is under way and nothing computes. At best this time could be hidden behind the
 * rest of the work.
 */
#include "analyze/finding.h"

#include <stdio.h>

static bool check(struct analyze *a, struct finding *f)
{
	int64_t wall_ns = finding_wall_ns(a), io_ns = finding_int(a, "layers", "io_ns");
	int64_t alone_ns = finding_int(a, "layers", "unoverlapped_io_ns");

	if (alone_ns == STORE_NULL)
		alone_ns = io_ns;
	if (io_ns == STORE_NULL || !finding_is_worth(a, alone_ns) || alone_ns < wall_ns / 2)
		return false;
	f->recoverable_ns = wall_ns - alone_ns < alone_ns ? wall_ns - alone_ns : alone_ns;
	snprintf(f->what, sizeof(f->what), "the run is bound by input and output");
	snprintf(f->evidence, sizeof(f->evidence),
			"for %.3f s of %.3f s calls were under way, for %.3f s with no compute beside them",
			(double)io_ns / 1e9, (double)wall_ns / 1e9, (double)alone_ns / 1e9);
	finding_try(a, "sonde summary --top 20 %s", f);
	return true;
}

const struct diagnosis_rule analyze_rule_io_bound = { .key = "io_bound", .check = check };
