/*
 * explain: which calls, files, functions and waits cause the difference. Both sides are recorded alternately, a few
 * times each, and the time of each item is compared, with an interval across recordings (Welch). Recording has
 * overhead on both sides, so differences are meaningful and absolute values are not.
 */
#ifndef SONDE_DUET_EXPLAIN_H
#define SONDE_DUET_EXPLAIN_H

#include "duet/steps.h"
#include "stats/interval.h"

struct duet_cause {
	const char *kind; /* "call", "file", "function" (CPU time), "wait" (off-CPU: reason, function) */
	const char *name;
	double a_ns, b_ns;           /* mean; 0: never occurred */
	double a_calls, b_calls;     /* samples for functions, number of waits */
	struct stats_interval delta; /* b - a, ns */
};

struct duet_explanation {
	struct duet_cause *causes; /* largest difference first */
	size_t count;
	size_t recordings; /* of each side */
};

/* s must be open, as for steps. Memory from the arena. */
int duet_explain(struct duet_steps *s, size_t recordings, uint64_t seed, double level, struct arena *arena,
		struct duet_explanation *out, struct sonde_err *err);

#endif
