/*
 * detect: iterations of a program that announces none, found in what its
 * busiest thread does: the names of its spans, else its calls. Private to
 * analyze/.
 */
#ifndef SONDE_ANALYZE_DETECT_H
#define SONDE_ANALYZE_DETECT_H

#include "analyze/pass.h"

#define DETECT_STREAMS 2
#define DETECT_TOKENS_MAX ((size_t)1 << 20) /* of a stream that are looked at; the result says when there are more */

/* Queries that say which thread is the busiest. */
struct detect {
	int by_thread[DETECT_STREAMS];
};

struct detected {
	const char *stream; /* "span", "io" */
	int64_t tid;        /* the thread */
	int64_t name;       /* string: what iterations begin with */
	size_t count;       /* iterations; 0: none were found */
	int64_t *from_ns;   /* when each began */
	int64_t *dur_ns;    /* to the next; the last one as long as tokens go */
	double confidence;  /* see stats/repeats.h */
	size_t tokens;      /* that were looked at */
	bool is_cut;        /* there were more */
};

void detect_plan(struct analyze *a, struct detect *d);
/* All lives in a's arena. */
int detect_find(struct analyze *a, const struct detect *d, struct detected *found, struct sonde_err *err);

#endif
