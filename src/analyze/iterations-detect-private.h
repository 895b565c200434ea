/*
 * iterations-detect-private: shared by the iteration detection. iterations-detect-tokens.c reads a stream of spans or
 * calls, iterations-detect-processes.c one of processes, iterations-detect.c finds loops in them.
 */
#ifndef SONDE_ANALYZE_ITERATIONS_DETECT_PRIVATE_H
#define SONDE_ANALYZE_ITERATIONS_DETECT_PRIVATE_H

#include "analyze/iterations-detect.h"
#include "base/map.h"

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
/* Replaces tokens that are stacks by functions. */
int detect_name_samples(struct detect_tokens *t, struct sonde_err *err);
/* Sets the lifetime of the thread as far as known, which exceeds that of its tokens. There must be tokens. */
void detect_tokens_life(struct detect_tokens *t);

typedef int detect_look(void *arg, const struct detect_tokens *t);
/* Calls `look` with the started programs of each process that started several. Stops if `look` returns nonzero. */
int detect_families(struct analyze *a, const struct detect *d, detect_look *look, void *arg);

#endif
