/*
 * iterations-detect: detects iterations of a program that does not announce them, from its busiest thread: the names
 * of its spans, else its GPU commands, else its calls, else its samples; or from the programs that one process
 * starts, if much more time is in their loop. Private to analyze/.
 */
#ifndef SONDE_ANALYZE_ITERATIONS_DETECT_H
#define SONDE_ANALYZE_ITERATIONS_DETECT_H

#include "analyze/pass.h"
#include "base/map.h"

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

/* Private: iterations-detect-tokens.c reads a stream of spans, calls or samples, iterations-detect-processes.c one of
 * processes, iterations-detect.c finds loops in them. */

#define DETECT_TOKENS_MAX ((size_t)1 << 20) /* maximum tokens read of a stream; the result reports a truncation */

struct detect_tokens;

struct detect_stream {
	const char *name; /* description of the stream */
	enum store_table_id table;
	int ts, dur, process, tid, token, file;                        /* columns; file -1: none */
	size_t max;                                                    /* maximum tokens read */
	int (*rename)(struct detect_tokens *t, struct sonde_err *err); /* replaces the tokens; NULL: none */
};

extern const struct detect_stream detect_streams[DETECT_STREAMS];

struct detect_token {
	int64_t ts_ns, dur_ns, name, file;
	uint32_t token;       /* the value that repeats */
	bool is_code;         /* it loads code */
	bool is_before_pause; /* no call followed for much longer than usual */
};

struct detect_tokens {
	struct analyze *a;
	const struct detect_stream *stream;
	int64_t tid;
	size_t cap; /* maximum tokens to read */
	struct detect_token *tokens;
	size_t count;
	int64_t process;   /* of the last token */
	int64_t life_ns;   /* of the thread, within the range */
	struct map code;   /* files: whether they hold code */
	struct map places; /* paths of directories with code */
	struct map labels; /* texts of names, by number; empty: names are string ids of the run */
};

/* Reads the tokens of a thread; *t has a, stream, tid and cap. Release it in any case. */
int detect_tokens_read(struct detect_tokens *t, struct sonde_err *err);
void detect_tokens_release(struct detect_tokens *t);
/* Sets the lifetime of the thread as far as known, which exceeds that of its tokens. There must be tokens. */
void detect_tokens_life(struct detect_tokens *t);

typedef int detect_look(void *arg, const struct detect_tokens *t);
/* Calls `look` with the started programs of each process that started several. Stops if `look` returns nonzero. */
int detect_families(struct analyze *a, const struct detect *d, detect_look *look, void *arg);

#endif
