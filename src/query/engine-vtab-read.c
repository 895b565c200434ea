/* Return groups of the engine as rows of table functions. */
#include "query/engine-vtab-private.h"

#include <math.h>

static void int_or_null(sqlite3_context *ctx, int64_t v)
{
	if (v != STORE_NULL)
		sqlite3_result_int64(ctx, v);
}

static void key_result(sqlite3_context *ctx, const struct engine_cursor *c, unsigned i)
{
	unsigned before = c->module->kind == KIND_BUCKETS;

	if (i < c->key_count)
		query_source_result(ctx, &c->keys[i], engine_key(c->groups, c->at, before + i));
}

struct widest {
	uint64_t most;
	int64_t ns;
};

static void visit(void *arg, int64_t from, int64_t to, uint64_t mask, uint64_t active)
{
	struct widest *w = arg;

	w->ns += to - from;
	w->most = active > w->most ? active : w->most;
}

static void union_result(sqlite3_context *ctx, const struct engine_cursor *c, int i)
{
	struct engine_sweep_set set = { .cover = interval_set(c->groups, 2, c->at) };
	struct widest w = { .most = 0 };

	if (i == 3) {
		sqlite3_result_int64(ctx, engine_sum(c->groups, 1, c->at));
		return;
	}
	if (set.cover && engine_sweep(&set, 1, visit, &w) < 0)
		sqlite3_result_error_nomem(ctx);
	else
		sqlite3_result_int64(ctx, i == 4 ? w.ns : (int64_t)w.most);
}

static void quantile_result(sqlite3_context *ctx, const struct engine_cursor *c, double p)
{
	double v = c->groups->has_no_quantiles ? NAN : engine_quantile(c->groups, 1, c->at, p);

	if (c->value.is_real || isnan(v))
		sqlite3_result_double(ctx, v);
	else
		sqlite3_result_int64(ctx, llround(v));
}

/* Aggregates of stats: count, quantiles, sum, and for integers min, max, moments, distinct. */
static void stats_result(sqlite3_context *ctx, const struct engine_cursor *c, int i)
{
	static const double ps[] = { 0.5, 0.95, 0.99 };
	bool is_real = c->value.is_real;
	size_t at = c->at;

	if (i == 3 && !is_real)
		sqlite3_result_int64(ctx, engine_sum(c->groups, c->sum, at));
	else if (i == 3)
		sqlite3_result_double(ctx, engine_mean(c->groups, 2, at) * (double)engine_count(c->groups, 2, at));
	else if (i == 4)
		sqlite3_result_double(ctx, engine_mean(c->groups, 2, at));
	else if (i == 5 && !is_real)
		sqlite3_result_double(ctx, sqrt(engine_variance(c->groups, 5, at)));
	else if ((i == 6 || i == 7) && is_real)
		quantile_result(ctx, c, i == 6 ? 0 : 1);
	else if (i == 6 || i == 7)
		int_or_null(ctx, engine_extreme(c->groups, i == 6 ? 3 : 4, at));
	else if (i >= 8 && i <= 10)
		quantile_result(ctx, c, ps[i - 8]);
	else if (i == 11 && !is_real)
		sqlite3_result_int64(ctx, (int64_t)engine_distinct(c->groups, 6, at));
}

static void buckets_result(sqlite3_context *ctx, const struct engine_cursor *c, int i)
{
	int64_t bucket = engine_key(c->groups, c->at, 0);

	if (i <= 2 && bucket == STORE_NULL)
		return;
	if (i <= 2)
		sqlite3_result_int64(ctx, i == 0 ? bucket : c->start_ns + (bucket + i - 1) * c->width_ns);
	else if (i == 3)
		key_result(ctx, c, 0);
	else if (i == 4)
		sqlite3_result_int64(ctx, (int64_t)engine_count(c->groups, 0, c->at));
	else if (c->value.column && c->value.is_real && i == 5)
		sqlite3_result_double(ctx,
				engine_mean(c->groups, 1, c->at) * (double)engine_count(c->groups, 1, c->at));
	else if (c->value.column && !c->value.is_real)
		int_or_null(ctx,
				i == 5 ? engine_sum(c->groups, c->sum, c->at)
				       : engine_extreme(c->groups, i == 6 ? 2 : 3, c->at));
}

void engine_group_result(sqlite3_context *ctx, const struct engine_cursor *c, int i)
{
	if (c->module->kind == KIND_BUCKETS)
		buckets_result(ctx, c, i);
	else if (i < 2)
		key_result(ctx, c, (unsigned)i);
	else if (i == 2)
		sqlite3_result_int64(ctx, (int64_t)engine_count(c->groups, 0, c->at));
	else if (c->module->kind == KIND_UNION)
		union_result(ctx, c, i);
	else if (c->module->kind == KIND_QUANTILE)
		quantile_result(ctx, c, c->p);
	else
		stats_result(ctx, c, i);
}
