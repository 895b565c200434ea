/*
 * Aggregates for ordinary SQL: quantile(x, p), median(x), union_ns(ts, dur). They store every value, in memory that
 * counts towards SQLite's limit, and are exact.
 */
#include "query/query-private.h"

#include <math.h>
#include <stdlib.h>

/* The values collected by an aggregate: pairs of 8 bytes, or single ones. */
struct gathered {
	void *items;
	sqlite3_uint64 count, cap;
	double p;
	bool is_failed;
};

static void *room(sqlite3_context *ctx, size_t bytes)
{
	struct gathered *g = sqlite3_aggregate_context(ctx, sizeof(*g));

	if (!g || g->is_failed)
		return NULL;
	if (g->count == g->cap) {
		sqlite3_uint64 cap = g->cap ? 2 * g->cap : 256;
		void *items = sqlite3_realloc64(g->items, cap * bytes);

		if (!items) {
			g->is_failed = true;
			sqlite3_result_error_nomem(ctx);
			return NULL;
		}
		g->items = items;
		g->cap = cap;
	}
	return (char *)g->items + g->count++ * bytes;
}

static void step_value(sqlite3_context *ctx, sqlite3_value *value, double p)
{
	int type = sqlite3_value_numeric_type(value);
	double *at;

	if (type != SQLITE_INTEGER && type != SQLITE_FLOAT)
		return;
	at = room(ctx, sizeof(*at));
	if (!at)
		return;
	*at = sqlite3_value_double(value);
	((struct gathered *)sqlite3_aggregate_context(ctx, 0))->p = p;
}

static void step_quantile(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	double p = sqlite3_value_double(argv[1]);

	if (sqlite3_value_numeric_type(argv[1]) == SQLITE_NULL || !(p >= 0 && p <= 1))
		sqlite3_result_error(ctx, "quantile(x, p): p must lie between 0 and 1", -1);
	else
		step_value(ctx, argv[0], p);
}

static void step_median(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	step_value(ctx, argv[0], 0.5);
}

static int by_real(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void finish_quantile(sqlite3_context *ctx)
{
	struct gathered *g = sqlite3_aggregate_context(ctx, 0);

	if (g && g->count && !g->is_failed) {
		double v;

		qsort(g->items, g->count, sizeof(double), by_real);
		v = ((double *)g->items)[(size_t)floor(g->p * (double)(g->count - 1))];
		if (v == floor(v) && fabs(v) < 9e15)
			sqlite3_result_int64(ctx, (int64_t)v);
		else
			sqlite3_result_double(ctx, v);
	}
	if (g)
		sqlite3_free(g->items);
}

static void step_union(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	struct engine_interval *at;
	int64_t ts, dur;

	if (sqlite3_value_numeric_type(argv[0]) == SQLITE_NULL || sqlite3_value_numeric_type(argv[1]) == SQLITE_NULL)
		return;
	ts = sqlite3_value_int64(argv[0]);
	dur = sqlite3_value_int64(argv[1]);
	if (dur <= 0 || !(at = room(ctx, sizeof(*at))))
		return;
	at->from = ts;
	if (__builtin_add_overflow(ts, dur, &at->to))
		at->to = INT64_MAX;
}

static int by_from(const void *a, const void *b)
{
	const struct engine_interval *x = a, *y = b;

	return (x->from > y->from) - (x->from < y->from);
}

static void finish_union(sqlite3_context *ctx)
{
	struct gathered *g = sqlite3_aggregate_context(ctx, 0);
	struct engine_interval *all = g ? g->items : NULL;
	int64_t ns = 0, end = INT64_MIN;

	if (g && g->count > 1)
		qsort(all, g->count, sizeof(*all), by_from);
	for (sqlite3_uint64 i = 0; g && i < g->count; i++) {
		int64_t from = all[i].from > end ? all[i].from : end;

		ns += all[i].to > from ? all[i].to - from : 0;
		end = all[i].to > end ? all[i].to : end;
	}
	if (!g || !g->is_failed)
		sqlite3_result_int64(ctx, ns);
	if (g)
		sqlite3_free(g->items);
}

int query_aggregate_register(struct query *q)
{
	int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
	int rc = sqlite3_create_function(q->db, "quantile", 2, flags, NULL, NULL, step_quantile, finish_quantile);

	if (rc == SQLITE_OK)
		rc = sqlite3_create_function(q->db, "median", 1, flags, NULL, NULL, step_median, finish_quantile);
	if (rc == SQLITE_OK)
		rc = sqlite3_create_function(q->db, "union_ns", 2, flags, NULL, NULL, step_union, finish_union);
	return rc;
}
