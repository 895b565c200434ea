/*
 * What the parts of finding iterations share: iterations-detect-tokens.c reads a stream of spans or calls,
 * iterations-detect-processes.c one of processes, iterations-detect.c looks for loops in them.
 */
#ifndef SONDE_ANALYZE_ITERATIONS_DETECT_PRIVATE_H
#define SONDE_ANALYZE_ITERATIONS_DETECT_PRIVATE_H

#include "analyze/iterations-detect.h"
#include "base/map.h"

#define DETECT_TOKENS_MAX ((size_t)1 << 20) /* of a stream that are looked at; the result says when there are more */

struct detect_tokens;

struct detect_stream {
	const char *name; /* where a loop was found, in words */
	enum store_table_id table;
	int ts, dur, process, tid, token, file; /* columns; file -1: none */
	size_t max;                             /* tokens that are looked at */
	int (*rename)(struct detect_tokens *t,
			struct sonde_err *err); /* makes other tokens of what was read; NULL: nobody */
};

extern const struct detect_stream detect_streams[DETECT_STREAMS];

struct detect_token {
	int64_t ts_ns, dur_ns, name, file;
	uint32_t token;       /* what is looked for again */
	bool is_code;         /* it loads code */
	bool is_before_pause; /* the thread then called nothing for much longer than usual */
};

struct detect_tokens {
	struct analyze *a;
	const struct detect_stream *stream;
	int64_t tid;
	size_t cap; /* tokens to read at most */
	struct detect_token *tokens;
	size_t count;
	int64_t process;   /* of the last one */
	int64_t life_ns;   /* of the thread, in what is looked at */
	struct map code;   /* files: do they hold code? */
	struct map places; /* paths of directories that code is in */
	struct map labels; /* what names are, by number; none: they are strings of the run */
};

/* The tokens of a thread; *t has a, stream, tid and cap. Release it whatever happens. */
int detect_tokens_read(struct detect_tokens *t, struct sonde_err *err);
void detect_tokens_release(struct detect_tokens *t);
/* Tokens that are stacks become functions. */
int detect_name_samples(struct detect_tokens *t, struct sonde_err *err);
/* When its thread lived, as far as is known: longer than its tokens say. It has tokens. */
void detect_tokens_life(struct detect_tokens *t);

typedef int detect_look(void *arg, const struct detect_tokens *t);
/* The tokens of each process that started several others: those. Stops when `look` answers something else than 0. */
int detect_families(struct analyze *a, const struct detect *d, detect_look *look, void *arg);

#endif
