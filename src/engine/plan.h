/*
 * plan: all queries on one table, executed in one scan.
 *
 * Blocks are read once, by several threads, and only the columns that queries and derived columns need. A derived
 * column is computed from others, one block at a time, by a function that must depend only on that block: then
 * results do not depend on threads or parts. Memory is bounded by the number of groups and by a budget for interval
 * sets, not by rows.
 *
 * The window rule (doc/format.md): a row belongs to the window [from, to) in which it starts. There it is counted, and
 * there its values and its whole duration are summed, ranked and compared. Time (ENGINE_TIME, ENGINE_UNION,
 * ENGINE_CONCURRENCY) is what lies inside the window, also of rows that started before it. Both add up over adjacent
 * windows, so a group may have time and no rows, and time divided by a count is not a mean.
 *
 *   engine_plan_new, then engine_plan_derive and engine_plan_query,
 *   then engine_plan_run (or _load, for each part; or _feed, for rows that are in no table),
 *   then engine_plan_finish, then engine_plan_groups.
 */
#ifndef SONDE_ENGINE_PLAN_H
#define SONDE_ENGINE_PLAN_H

#include "base/err.h"
#include "engine/part.h"
#include "engine/scan-query.h"
#include "store/table-read.h"
#include "store/writer.h"

#define ENGINE_DERIVED_MAX 16
#define ENGINE_QUERIES_MAX 16
#define ENGINE_COLUMNS_MAX (STORE_COLUMNS_MAX + ENGINE_DERIVED_MAX)
#define ENGINE_NEEDS_MAX 8
#define INTERVAL_SET_BYTES ((size_t)256 << 20) /* of interval sets in memory; more go to a temporary file */

/* A block of rows: columns by number, NULL where not loaded. */
struct engine_rows {
	size_t count; /* at most STORE_BLOCK_ROWS */
	const int64_t *ints[ENGINE_COLUMNS_MAX];
	const double *reals[ENGINE_COLUMNS_MAX];
};

struct engine_derive {
	/*
	 * Fill out[0..rows->count); several threads call it at once. The time and duration of the rows are clipped to
	 * the window.
	 */
	void (*fill)(const void *arg, const struct engine_rows *rows, int64_t *out);
	const void *arg;
	unsigned need_count;
	int needs[ENGINE_NEEDS_MAX]; /* columns that it reads */
};

struct engine_plan;

/* For a table of this schema; its first TIME and DURATION columns are the time of a row. */
int engine_plan_new(struct engine_plan **out, const struct store_schema *schema, struct sonde_err *err);
void engine_plan_free(struct engine_plan *plan); /* NULL is allowed */
/* The number of the new column, or -E2BIG. */
int engine_plan_derive(struct engine_plan *plan, const struct engine_derive *derive);
/* The number of the new query, or -E2BIG. It is copied, except its name. */
int engine_plan_query(struct engine_plan *plan, const struct engine_query *query);
bool engine_plan_is_empty(const struct engine_plan *plan); /* no queries */

struct engine_run_opts {
	bool has_range; /* only the window [from_ns, to_ns); a row without a start is in none */
	int64_t from_ns, to_ns;
	bool is_of_starts; /* only rows that start in the window, with their whole time */
	unsigned threads;  /* 0: one per CPU */
	struct engine_part part;
	size_t cover_bytes; /* 0: INTERVAL_SET_BYTES */
};

int engine_plan_run(struct engine_plan *plan, struct store_table *table, const struct engine_run_opts *opts,
		struct sonde_err *err);
/* Add the caller's rows. Columns used by queries must be present; derived ones are filled. */
int engine_plan_feed(struct engine_plan *plan, const struct engine_rows *rows);
int engine_plan_finish(struct engine_plan *plan, struct sonde_err *err);
/* After finish; valid as long as the plan. */
const struct engine_groups *engine_plan_groups(const struct engine_plan *plan, int query);

/* After finish: save the results. Equal rows give equal bytes. */
int engine_plan_save(const struct engine_plan *plan, struct buf *out);
/* Instead of run: load the saved results of a part; -EBADMSG if they are damaged or belong to another plan. */
int engine_plan_load(struct engine_plan *plan, struct unpack *u, struct sonde_err *err);

#endif
