/*
 * detect: iterations of a program that announces none, found in what its
 * busiest thread does: the names of its spans, else what it has a GPU do, else
 * its calls, else what samples find it in; or in the programs that one process
 * starts, when much more time goes to their loop. Private to analyze/.
 */
#ifndef SONDE_ANALYZE_ITERATIONS_DETECT_H
#define SONDE_ANALYZE_ITERATIONS_DETECT_H

#include "analyze/pass.h"

#define DETECT_STREAMS 4

/* Queries that say which thread is the busiest, and how long processes did something. */
struct detect {
	int by_thread[DETECT_STREAMS];
	int last_calls; /* when each process last called anything */
};

struct detected {
	const char *where; /* in words */
	int64_t tid;       /* the thread; of a process that starts others its first one */
	const char *name;  /* what iterations begin with */
	size_t count;      /* iterations; 0: none were found */
	int64_t *from_ns;  /* when each began */
	int64_t *dur_ns;   /* to the next; the last one as long as tokens go */
	double confidence; /* see stats/loop-detect.h */
	double weight;     /* of several loops the one with the most is taken */
	size_t tokens;     /* that were looked at */
	bool is_cut;       /* there were more */
};

void detect_plan(struct analyze *a, struct detect *d);
/* All lives in a's arena. */
int detect_find(struct analyze *a, const struct detect *d, struct detected *found, struct sonde_err *err);

#endif
