/*
 * query: questions about a run in SQL.
 *
 * The tables of a run are virtual tables of SQLite: only the columns and blocks
 * that a statement needs are decoded, blocks outside a range of time are not
 * touched, ids of strings show as their text. Beside them stand ready views and
 * the aggregates of the engine as table functions; `SELECT * FROM tables` says
 * what there is. A statement reads: everything else is refused when it is
 * prepared, and so is more than one statement.
 *
 * Rows are handed out one by one and nothing is kept of them. A handle is used
 * by one thread at a time, and so is the run while a statement is under way.
 * The limit on memory is SQLite's, which has one for the whole process.
 *
 *	query_open, then query_run as often as needed, then query_free.
 */
#ifndef SONDE_QUERY_QUERY_H
#define SONDE_QUERY_QUERY_H

#include "base/err.h"
#include "model/run-model.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct query;

enum query_kind { QUERY_NULL, QUERY_INT, QUERY_REAL, QUERY_TEXT, QUERY_BLOB };

struct query_value {
	enum query_kind kind;
	union {
		int64_t integer;
		double real;            /* always finite: NaN is null to SQLite, infinities are null here */
		struct store_text text; /* of TEXT and BLOB; valid during the call; TEXT need not be UTF-8 */
	};
};

/* Who takes the answer. What a function returns other than 0 ends the statement and is what query_run returns. */
struct query_sink {
	/* Once, before the rows, also when there are none. Names are made different: "n", "n_2". */
	int (*columns)(void *arg, const char *const *names, size_t count);
	int (*row)(void *arg, const struct query_value *values, size_t count);
	void *arg;
};

/* 0: no limit. */
struct query_limits {
	uint64_t rows;         /* handed out; then the answer is cut, see query_end */
	int64_t time_ns;       /* then -ETIMEDOUT */
	uint64_t memory_bytes; /* of SQLite; then -ENOMEM. Sorting goes to temporary files before that */
};

#define QUERY_LIMITS_DEFAULT { .rows = 1000000, .time_ns = 60000000000, .memory_bytes = (uint64_t)1 << 30 }

/* What else there is to say of an answer. */
struct query_end {
	uint64_t rows;
	bool is_cut;      /* there are more rows than the limit */
	char notes[1024]; /* sentences, one a line without a full stop, of what was not recorded or lost; "" for none */
};

/* The run must outlive it. */
int query_open(struct query **out, struct model_run *run, struct sonde_err *err);
void query_free(struct query *q); /* NULL is fine */

/*
 * Answer one statement. limits and end may be NULL. -EINVAL when it is no SQL, not one statement or no mere
 * question: the error says what and where, from character 1.
 */
int query_run(struct query *q, const char *sql, const struct query_limits *limits, const struct query_sink *sink,
		struct query_end *end, struct sonde_err *err);

#endif
