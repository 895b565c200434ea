#include "analyze/repeated-calls.h"

#include <inttypes.h>
#include <stdio.h>

bool repeated_check(struct analyze *a, enum call_kind kind, uint64_t most, const char *word, struct finding *f)
{
	struct finding_path p, worst = { .count = 0 };
	int64_t all_ns = 0;
	size_t at = 0, files = 0, processes;

	model_processes(a->run, &processes);
	processes = processes ? processes : 1;
	while (finding_next_path(a, kind, &at, &p)) {
		if (p.count < most * processes)
			continue;
		files++;
		all_ns += (int64_t)((double)p.dur_ns * (1 - (double)processes / (double)p.count));
		if (p.dur_ns > worst.dur_ns)
			worst = p;
	}
	if (!finding_is_worth(a, all_ns))
		return false;
	finding_range_of(a, kind, f);
	f->recoverable_ns = all_ns;
	snprintf(f->what, sizeof(f->what), "%zu %s %s again and again", files, files == 1 ? "path is" : "paths are",
			word);
	snprintf(f->evidence, sizeof(f->evidence), "%.*s was %s %" PRIu64 " times, which took %.3f s",
			(int)(worst.path.bytes < 300 ? worst.path.bytes : 300), worst.path.data, word, worst.count,
			(double)worst.dur_ns / 1e9);
	finding_try_path(a, &worst.path, f);
	return true;
}
