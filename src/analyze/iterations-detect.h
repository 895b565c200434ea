/*
 * iterations-detect: detects iterations of a program that does not announce them, from its busiest thread: the names
 * of its spans, else its GPU commands, else its calls, else its samples; or from the programs that one process
 * starts, if much more time is in their loop. Private to analyze/.
 */
#ifndef SONDE_ANALYZE_ITERATIONS_DETECT_H
#define SONDE_ANALYZE_ITERATIONS_DETECT_H

#include "analyze/pass.h"

#define DETECT_STREAMS 4

/* Queries for the busiest thread and for the time that processes were active. */
struct detect {
	int by_thread[DETECT_STREAMS];
	int last_calls; /* time of the last call of each process */
};

struct detected {
	const char *where; /* description of the stream */
	int64_t tid;       /* the thread; the first one of a process that starts others */
	const char *name;  /* first event of an iteration */
	size_t count;      /* iterations; 0: none found */
	int64_t *from_ns;  /* start of each */
	int64_t *dur_ns;   /* until the next; the last one until its last token */
	double confidence; /* see stats/loop-detect.h */
	double weight;     /* the loop with the largest weight is used */
	size_t tokens;     /* tokens read */
	bool is_cut;       /* the stream was truncated */
};

void detect_plan(struct analyze *a, struct detect *d);
/* All memory is in a's arena. */
int detect_find(struct analyze *a, const struct detect *d, struct detected *found, struct sonde_err *err);

#endif
