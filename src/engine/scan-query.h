/*
 * scan-query: a query on the rows of a table.
 *
 * A query groups rows by up to two keys and computes aggregates of each group. It refers to columns by number: those
 * of the table's schema, or derived ones that the plan fills block by block (plan.h). Keys, filters and values are
 * INT columns; only ENGINE_QUANTILES and ENGINE_SUM_REAL accept REAL ones too.
 *
 * Every aggregate can be merged from parts of any order and size: sums are wide integers (of reals: fixed-point
 * numbers), so the same rows give the same bits with any number of threads and processes. Null values are ignored
 * except by ENGINE_COUNT; null is a valid key.
 */
#ifndef SONDE_ENGINE_SCAN_QUERY_H
#define SONDE_ENGINE_SCAN_QUERY_H

#include "engine/interval-set.h"
#include "stats/sketch.h"

#include <stddef.h>
#include <stdint.h>

#define ENGINE_KEYS_MAX 2
#define ENGINE_AGGREGATES_MAX 10
#define ENGINE_NONE (-1)
#define ENGINE_GROUPS_MAX ((size_t)1 << 22) /* a query with more is aborted, see engine_groups.is_over */
#define ENGINE_SKETCHES_MAX 4096u           /* groups of a query with quantiles: with more, quantiles are dropped */

enum engine_op {
	ENGINE_COUNT,       /* rows */
	ENGINE_SUM,         /* sum and count of a column: also the mean */
	ENGINE_MIN,         /* */
	ENGINE_MAX,         /* */
	ENGINE_MOMENTS,     /* count, mean and variance; values beyond 2^51 are clamped */
	ENGINE_QUANTILES,   /* a stats_sketch: within 1/256 of the value, min and max exact */
	ENGINE_DISTINCT,    /* distinct values: exact up to 65536, else estimated */
	ENGINE_SUM_REAL,    /* sum and count of a REAL column */
	ENGINE_TIME,        /* sum of the time inside the window, and count: of the duration or of a derived column */
	ENGINE_UNION,       /* the time covered by the rows: no column, uses the table's time and duration */
	ENGINE_CONCURRENCY, /* the same, with the number of concurrent rows */
	ENGINE_OPS
};

struct engine_aggregate {
	enum engine_op op;
	int column; /* ENGINE_NONE for COUNT, UNION, CONCURRENCY, and TIME of the table's duration */
};

struct engine_query {
	const char *name;
	unsigned key_count; /* 0: all rows are one group */
	int keys[ENGINE_KEYS_MAX];
	int filter; /* rows where this is 0 or null are skipped; ENGINE_NONE: no filter */
	unsigned aggregate_count;
	struct engine_aggregate aggregates[ENGINE_AGGREGATES_MAX];
};

/* The groups of a query, sorted by key. */
struct engine_groups {
	size_t count;
	bool is_over;          /* there were more than ENGINE_GROUPS_MAX; the result is empty */
	bool has_no_quantiles; /* there were more than ENGINE_SKETCHES_MAX */
	/* private */
	const struct engine_query *query;
	int64_t *keys[ENGINE_KEYS_MAX];
	void *states[ENGINE_AGGREGATES_MAX];
};

static inline int64_t engine_key(const struct engine_groups *g, size_t i, unsigned key)
{
	return g->keys[key][i];
}

/* The value of aggregate a of group i; the aggregate's op must match. STORE_NULL or NaN if no row had a value. */
uint64_t engine_count(const struct engine_groups *g, unsigned a, size_t i); /* rows, or not-null values */
int64_t engine_sum(const struct engine_groups *g, unsigned a, size_t i);    /* of SUM and TIME; clamped; 0 if empty */
/* Of SUM: whether adding the values one by one, in any order, stays below this in size: then it is exact in doubles. */
bool engine_sum_is_below(const struct engine_groups *g, unsigned a, size_t i, double limit);
int64_t engine_extreme(const struct engine_groups *g, unsigned a, size_t i); /* of MIN and MAX */
double engine_mean(const struct engine_groups *g, unsigned a, size_t i);     /* of SUM, SUM_REAL, MOMENTS */
double engine_variance(const struct engine_groups *g, unsigned a, size_t i); /* with n-1; NaN for fewer than 2 values */
double engine_quantile(const struct engine_groups *g, unsigned a, size_t i, double p);
uint64_t engine_distinct(const struct engine_groups *g, unsigned a, size_t i);
/* Of several groups together; SIZE_MAX if out of memory. */
struct engine_group {
	const struct engine_groups *groups;
	unsigned aggregate;
	size_t index;
};
uint64_t engine_distinct_of(const struct engine_group *some, size_t count);
const struct interval_set *interval_set(const struct engine_groups *g, unsigned a, size_t i);
const struct stats_sketch *engine_sketch(const struct engine_groups *g, unsigned a, size_t i); /* NULL: dropped */

#endif
