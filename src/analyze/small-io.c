/*
 * Small accesses: a file that is read or written a few bytes at a time costs a system call each time. Accesses of 64
 * KiB would need few. Calls buffered by stdio do not count, however small.
 */
#include "analyze/small-io.h"

#include <inttypes.h>
#include <stdio.h>

#define CALLS_MIN 1000 /* minimum for a finding */
#define LARGE_BYTES 65536

/* Estimates the time that large accesses of the same bytes would save. */
static int64_t saved_ns(const struct finding_path *p)
{
	uint64_t large = (uint64_t)p->bytes / LARGE_BYTES + 1;

	return large < p->count ? (int64_t)((double)p->dur_ns * (1 - (double)large / (double)p->count)) : 0;
}

bool tiny_check(struct analyze *a, enum call_kind kind, const char *word, struct finding *f)
{
	struct finding_path p, worst = { .count = 0 };
	int64_t all_ns = 0, most_ns = 0;
	size_t at = 0, files = 0;

	while (finding_next_path(a, kind, &at, &p)) {
		int64_t ns = saved_ns(&p);

		if (p.count < CALLS_MIN || 2 * p.buffered > p.count ||
				(uint64_t)p.bytes >= p.count * ANALYZE_SMALL_BYTES)
			continue;
		all_ns += ns;
		files++;
		if (ns < most_ns)
			continue;
		most_ns = ns;
		worst = p;
	}
	if (!worst.count || !finding_is_worth(a, all_ns))
		return false;
	finding_range_of(a, kind, f);
	f->recoverable_ns = all_ns;
	snprintf(f->what, sizeof(f->what), "%zu %s %s a few bytes at a time", files,
			files == 1 ? "file is" : "files are", word);
	snprintf(f->evidence, sizeof(f->evidence),
			"%" PRIu64 " calls on %.*s moved %" PRId64 " bytes each and took %.3f s", worst.count,
			(int)(worst.path.bytes < 300 ? worst.path.bytes : 300), worst.path.data,
			worst.bytes / (int64_t)worst.count, (double)worst.dur_ns / 1e9);
	finding_try_path(a, &worst.path, f);
	return true;
}
