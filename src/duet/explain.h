/*
 * explain: what carries the difference. Both sides are recorded in turn, a few times each, and the time of every call,
 * file, function and wait is compared, with an interval from recording to recording (Welch). Recording costs; both
 * sides pay, so differences count and not levels.
 */
#ifndef SONDE_DUET_EXPLAIN_H
#define SONDE_DUET_EXPLAIN_H

#include "duet/steps.h"
#include "stats/interval.h"

struct duet_cause {
	const char *kind; /* "call", "file", "function" (CPU time where it ran), "wait" (off the CPUs: why, where) */
	const char *name;
	double a_ns, b_ns;           /* on average; 0: it never happened */
	double a_calls, b_calls;     /* samples of functions, times it waited */
	struct stats_interval delta; /* b - a, ns */
};

struct duet_explanation {
	struct duet_cause *causes; /* largest difference first */
	size_t count;
	size_t recordings; /* of each side */
};

/* s as for steps: opened. From the arena. */
int duet_explain(struct duet_steps *s, size_t recordings, uint64_t seed, double level, struct arena *arena,
		struct duet_explanation *out, struct sonde_err *err);

#endif
