/*
 * query: query a run with SQL.
 *
 * The tables of a run are virtual tables of SQLite: only the columns and blocks that a statement needs are decoded,
 * blocks outside a time range are skipped, and string ids are shown as text. There are also predefined views, and the
 * aggregates of the engine as table functions; `SELECT * FROM tables` lists everything. Statements are read-only:
 * anything else is refused when it is prepared, and so is more than one statement.
 *
 * Rows are returned one by one and not stored. A handle is used by one thread at a time, and so is the run while a
 * statement is running. The memory limit is SQLite's, which is global to the process.
 *
 *   query_open, then query_run as often as needed, then query_free.
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
		double real; /* always finite: SQLite maps NaN to null, and infinities are mapped to null here */
		struct store_text text; /* of TEXT and BLOB; valid during the call; TEXT need not be UTF-8 */
	};
};

/* Receives the result. A nonzero return value of a callback ends the statement and is returned by query_run. */
struct query_sink {
	/* Called once, before the rows, even if there are none. Duplicate names get a suffix: "n", "n_2". */
	int (*columns)(void *arg, const char *const *names, size_t count);
	int (*row)(void *arg, const struct query_value *values, size_t count);
	void *arg;
};

/* 0: no limit. */
struct query_limits {
	uint64_t rows;         /* returned; then the result is truncated, see query_end */
	int64_t time_ns;       /* then -ETIMEDOUT */
	uint64_t memory_bytes; /* of SQLite; then -ENOMEM. Sorting spills to temporary files first */
};

#define QUERY_LIMITS_DEFAULT { .rows = 1000000, .time_ns = 60000000000, .memory_bytes = (uint64_t)1 << 30 }

/* Additional information about a result. */
struct query_end {
	uint64_t rows;
	bool is_cut;      /* there are more rows than the limit */
	char notes[1024]; /* one sentence per line, no full stop: what was not recorded or was lost; "" if none */
};

/* The run must outlive it. */
int query_open(struct query **out, struct model_run *run, struct sonde_err *err);
void query_free(struct query *q); /* NULL is allowed */

/*
 * Run one statement. limits and end may be NULL. -EINVAL if it is not valid SQL, not a single statement, or not
 * read-only: the error has the reason and position, from character 1.
 */
int query_run(struct query *q, const char *sql, const struct query_limits *limits, const struct query_sink *sink,
		struct query_end *end, struct sonde_err *err);

#endif
