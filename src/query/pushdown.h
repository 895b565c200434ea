/*
 * pushdown: statements that the engine answers instead of SQLite.
 *
 * SQLite does not pass GROUP BY to a virtual table, so a plain aggregation goes through it row by row. A statement of
 * exactly this shape is answered by one parallel scan of the engine:
 *
 *   SELECT items FROM table [WHERE condition {AND condition}] [GROUP BY key [, key]]
 *   [HAVING ...] [ORDER BY ...] [LIMIT ...]
 *
 * Keys are columns of numbers, names, kinds or paths; a condition compares such a column with a constant; items, HAVING
 * and ORDER BY are expressions of keys, constants, count(*), and count, sum, min, max and avg of a column of integers.
 * The matcher replaces the keys and aggregates in the text by columns of the table `sonde_groups`, which has one row
 * per group, so that expressions, HAVING, ORDER BY and LIMIT are still SQLite's. SQLite has prepared the statement
 * before, so it is known to be valid, and the names of its columns are SQLite's too.
 *
 * Whatever the matcher does not understand, and whatever the engine might answer in another way (see
 * pushdown_run), is left to SQLite. Private to query/. See doc/adr/0017.
 */
#ifndef SONDE_QUERY_PUSHDOWN_H
#define SONDE_QUERY_PUSHDOWN_H

#include "base/buf.h"
#include "query/query-private.h"

#define PUSHDOWN_RANGES_MAX 32
#define PUSHDOWN_CONDITIONS_MAX 12
#define PUSHDOWN_GROUPS "sonde_groups"

enum pushdown_function { PUSHDOWN_ROWS, PUSHDOWN_COUNT, PUSHDOWN_SUM, PUSHDOWN_MIN, PUSHDOWN_MAX, PUSHDOWN_AVG };

/* A column of a group. */
struct pushdown_aggregate {
	enum pushdown_function function;
	const struct query_column *column; /* NULL for count(*) */
	unsigned number;                   /* of the engine's aggregate */
};

/* The value is in one of the ranges, and not null; or the opposite, and not null; or is it null? */
struct pushdown_condition {
	const struct query_column *column;
	bool is_not, is_null_test;
	unsigned range_count;
	struct {
		int64_t lo, hi;
	} ranges[PUSHDOWN_RANGES_MAX];
	struct query_source source;
};

struct pushdown {
	struct query *q;
	struct query_table *t;
	unsigned key_count, aggregate_count, condition_count;
	struct query_source keys[ENGINE_KEYS_MAX];
	struct pushdown_aggregate aggregates[ENGINE_AGGREGATES_MAX];
	struct pushdown_condition conditions[PUSHDOWN_CONDITIONS_MAX];
	struct buf sql; /* the statement on `sonde_groups` */
	/* the groups, after pushdown_run */
	struct engine_plan *plan;
	const struct engine_groups *groups;
	size_t *order, count; /* of groups that have rows, as SQLite's GROUP BY sorts them */
};

/* pushdown-match.c: false if the statement has another shape; then p must only be released. */
bool pushdown_match(struct pushdown *p, struct query *q, const char *sql);
/* pushdown.c: compute the groups; false if SQLite must answer instead. */
bool pushdown_run(struct pushdown *p);
void pushdown_release(struct pushdown *p);

#endif
