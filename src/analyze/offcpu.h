/* offcpu: results of the offcpu pass, for diagnosis rules. Private to analyze/. */
#ifndef SONDE_ANALYZE_OFFCPU_H
#define SONDE_ANALYZE_OFFCPU_H

#include "analyze/pass.h"
#include "analyze/waits.h"

struct offcpu {
	int by_stack;
	int64_t total_ns, known_ns; /* of all threads; with a stack */
	int64_t ns[WAIT_REASONS], counts[WAIT_REASONS];
	int64_t most_ns[WAIT_REASONS], most_stack[WAIT_REASONS]; /* of one stack */
	const char *where[WAIT_REASONS];                         /* function of that stack; NULL: unknown */
};

/* Estimated total wait time of all threads for this reason, if switches without a stack are distributed like the
 * others. */
static inline int64_t offcpu_ns(const struct offcpu *o, enum wait_reason reason)
{
	return o->known_ns > 0 ? (int64_t)((double)o->ns[reason] * (double)o->total_ns / (double)o->known_ns) : 0;
}

#endif
