/*
 * The engine's aggregates as table functions: one parallel scan of a table instead of one row at a time through
 * SQLite.
 *
 * A function is a row of `engine_kinds`: its columns, followed by its arguments as hidden columns. A cursor is one call
 * of it: xFilter translates the arguments to a plan and runs it, and the cursor iterates over the groups.
 */
#include "base/cleanup.h"
#include "query/query-private.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum engine_kind { KIND_STATS, KIND_QUANTILE, KIND_UNION, KIND_BUCKETS, KINDS };
enum argument { ARG_TABLE, ARG_COLUMN, ARG_P, ARG_N, ARG_BY, ARG_BY2, ARG_FROM, ARG_TO, ARGUMENTS };

struct engine_function {
	const char *name, *columns;
	unsigned shown; /* columns before the hidden ones */
	unsigned argument_count;
	enum argument arguments[8];
};

static const char *const argument_names[ARGUMENTS] = { "table_name", "column_name", "p", "n", "by", "by2", "since_ns",
	"until_ns" };

static const struct engine_function engine_kinds[KINDS] = {
	[KIND_STATS] = { "stats", "key, key2, count, sum, mean, stddev, min, max, p50, p95, p99, distinct_values", 12,
			6, { ARG_TABLE, ARG_COLUMN, ARG_BY, ARG_BY2, ARG_FROM, ARG_TO } },
	[KIND_QUANTILE] = { "quantile", "key, key2, count, value", 4, 7,
			{ ARG_TABLE, ARG_COLUMN, ARG_P, ARG_BY, ARG_BY2, ARG_FROM, ARG_TO } },
	[KIND_UNION] = { "union_ns", "key, key2, count, total_ns, union_ns, most_at_once", 6, 5,
			{ ARG_TABLE, ARG_BY, ARG_BY2, ARG_FROM, ARG_TO } },
	[KIND_BUCKETS] = { "buckets", "bucket, from_ns, to_ns, key, count, sum, min, max", 8, 6,
			{ ARG_TABLE, ARG_N, ARG_COLUMN, ARG_BY, ARG_FROM, ARG_TO } },
};

/* A table function of an open run. */
struct engine_module {
	struct query *q;
	enum engine_kind kind;
};

struct engine_cursor {
	sqlite3_vtab_cursor base;
	const struct engine_module *module;
	sqlite3_value *arguments[ARGUMENTS];
	struct query_table *t;
	struct query_source value, keys[ENGINE_KEYS_MAX];
	unsigned key_count;
	unsigned sum; /* the aggregate of the column `sum` */
	double p;
	int64_t start_ns, width_ns; /* of buckets */
	struct engine_plan *plan;
	const struct engine_groups *groups;
	size_t at;
};

/* Planning: arguments, derived columns, aggregates. */

#define BUCKETS_MAX 100000

static int fail(struct engine_cursor *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int fail(struct engine_cursor *c, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return query_vtab_fail(c->base.pVtab, engine_kinds[c->module->kind].name, text);
}

/* Derived columns. */

static void fill_bucket(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const struct engine_cursor *c = arg;
	const int64_t *ts = rows->ints[c->t->time_column];

	for (size_t i = 0; i < rows->count; i++)
		out[i] = ts[i] == STORE_NULL          ? STORE_NULL
				: ts[i] < c->start_ns ? 0 /* it started before the range and extends into it */
						      : (ts[i] - c->start_ns) / c->width_ns;
}

/* Arguments. */

static const char *text_argument(const struct engine_cursor *c, enum argument a)
{
	return c->arguments[a] && sqlite3_value_type(c->arguments[a]) != SQLITE_NULL
			? (const char *)sqlite3_value_text(c->arguments[a])
			: NULL;
}

static bool int_argument(const struct engine_cursor *c, enum argument a, int64_t *v)
{
	if (!c->arguments[a] || sqlite3_value_type(c->arguments[a]) == SQLITE_NULL)
		return false;
	*v = sqlite3_value_int64(c->arguments[a]);
	return true;
}

/* Find a column by name and get its number in the plan. */
static int take_source(struct engine_cursor *c, const char *name, bool is_key, struct query_source *out)
{
	int rc;

	out->column = query_column_find(c->t, name);
	if (!out->column)
		return fail(c, "the table '%s' has no column '%.60s'", c->t->schema->name, name);
	rc = query_source_add(out, c->module->q, c->plan);
	if (rc == -ENOTSUP || (is_key && out->is_real))
		return fail(c, "the column '%s' is text: give one of numbers%s", name, is_key ? " or names" : "");
	return rc < 0 ? SQLITE_NOMEM : SQLITE_OK;
}

static int take_keys(struct engine_cursor *c, struct engine_query *e)
{
	static const enum argument by[] = { ARG_BY, ARG_BY2 };
	int rc = SQLITE_OK;

	for (int i = 0; i < 2 && rc == SQLITE_OK && text_argument(c, by[i]) && e->key_count < ENGINE_KEYS_MAX; i++) {
		rc = take_source(c, text_argument(c, by[i]), true, &c->keys[c->key_count]);
		e->keys[e->key_count++] = c->keys[c->key_count++].number;
	}
	return rc;
}

static void add(struct engine_query *e, enum engine_op op, int column)
{
	e->aggregates[e->aggregate_count++] = (struct engine_aggregate){ op, column };
}

/* The time range of a table, from its zone maps: [*from, *to); 0 and 0 if it is empty. */
static void times_of(const struct query_table *t, int64_t *from, int64_t *to)
{
	bool is_first = true;

	*from = *to = 0;
	for (size_t i = 0; t->table && i < store_table_blocks(t->table); i++) {
		const struct store_block_info *b = store_block_info(t->table, i);

		if (b->time_min_ns == STORE_NULL || b->time_max_ns == INT64_MAX)
			continue;
		*from = is_first || b->time_min_ns < *from ? b->time_min_ns : *from;
		*to = is_first || b->time_max_ns >= *to ? b->time_max_ns + 1 : *to;
		is_first = false;
	}
}

/* Divide the requested range, or else the time range of the table, into buckets. */
static int take_buckets(struct engine_cursor *c, struct engine_query *e)
{
	struct engine_derive d = { .fill = fill_bucket, .arg = c, .need_count = 1, .needs = { c->t->time_column } };
	int64_t n = 60, from, to;
	int number;

	int_argument(c, ARG_N, &n);
	if (n < 1 || n > BUCKETS_MAX)
		return fail(c, "the number of buckets must lie between 1 and %d", BUCKETS_MAX);
	if (c->t->time_column < 0)
		return fail(c, "the table '%s' has no times", c->t->schema->name);
	times_of(c->t, &from, &to);
	int_argument(c, ARG_FROM, &from);
	int_argument(c, ARG_TO, &to);
	c->start_ns = from;
	c->width_ns = to > from ? (int64_t)(((uint64_t)to - (uint64_t)from - 1) / (uint64_t)n) + 1 : 1;
	number = engine_plan_derive(c->plan, &d);
	e->keys[e->key_count++] = number;
	return number < 0 ? SQLITE_NOMEM : SQLITE_OK;
}

static int needs_text(struct engine_cursor *c, enum argument a, const char *what)
{
	return text_argument(c, a) ? SQLITE_OK : fail(c, "%s is missing", what);
}

/* Aggregates in the order in which the cursor reads them: the first is always the count. */
static int plan_kind(struct engine_cursor *c, struct engine_query *e)
{
	enum engine_kind kind = c->module->kind;
	bool has_value = text_argument(c, ARG_COLUMN);
	int rc = kind == KIND_STATS || kind == KIND_QUANTILE ? needs_text(c, ARG_COLUMN, "the column") : SQLITE_OK;

	if (rc == SQLITE_OK && has_value)
		rc = take_source(c, text_argument(c, ARG_COLUMN), false, &c->value);
	if (rc == SQLITE_OK && kind == KIND_BUCKETS)
		rc = take_buckets(c, e);
	if (rc == SQLITE_OK)
		rc = take_keys(c, e);
	if (rc != SQLITE_OK)
		return rc;
	add(e, ENGINE_COUNT, ENGINE_NONE);
	if (kind == KIND_UNION) {
		if (store_schema_column(c->t->schema, "dur_ns") < 0 || c->t->time_column < 0)
			return fail(c, "the rows of the table '%s' have no duration", c->t->schema->name);
		add(e, ENGINE_TIME, ENGINE_NONE);
		add(e, ENGINE_CONCURRENCY, ENGINE_NONE);
	} else if (has_value) {
		bool is_real = c->value.is_real,
		     is_duration = c->value.number == store_schema_column(c->t->schema, "dur_ns");

		if (kind != KIND_BUCKETS)
			add(e, ENGINE_QUANTILES, c->value.number);
		add(e, is_real ? ENGINE_SUM_REAL : ENGINE_SUM, c->value.number);
		if (!is_real) {
			add(e, ENGINE_MIN, c->value.number);
			add(e, ENGINE_MAX, c->value.number);
		}
		if (!is_real && kind == KIND_STATS) {
			add(e, ENGINE_MOMENTS, c->value.number);
			add(e, ENGINE_DISTINCT, c->value.number);
		}
		/* The sum of durations is time, clipped to the window; their mean is one of whole durations. */
		c->sum = kind == KIND_BUCKETS ? 1 : 2;
		if (is_duration) {
			c->sum = e->aggregate_count;
			add(e, ENGINE_TIME, ENGINE_NONE);
		}
	}
	return SQLITE_OK;
}

static int run_plan(struct engine_cursor *c)
{
	struct engine_query e = { .name = engine_kinds[c->module->kind].name, .filter = ENGINE_NONE };
	struct engine_run_opts opts = { .from_ns = 0, .to_ns = 0 };
	struct sonde_err err;
	int rc, number;

	c->p = c->arguments[ARG_P] ? sqlite3_value_double(c->arguments[ARG_P]) : 0.5;
	if (!(c->p >= 0 && c->p <= 1))
		return fail(c, "p must lie between 0 and 1");
	if (c->arguments[ARG_FROM] || c->arguments[ARG_TO]) {
		opts = (struct engine_run_opts){ .has_range = true, .from_ns = INT64_MIN + 1, .to_ns = INT64_MAX };
		int_argument(c, ARG_FROM, &opts.from_ns);
		int_argument(c, ARG_TO, &opts.to_ns);
	}
	if (engine_plan_new(&c->plan, c->t->schema, &err) < 0)
		return SQLITE_NOMEM;
	rc = plan_kind(c, &e);
	if (rc != SQLITE_OK)
		return rc;
	number = engine_plan_query(c->plan, &e);
	if (number < 0)
		return SQLITE_NOMEM;
	if ((c->t->table && engine_plan_run(c->plan, c->t->table, &opts, &err) < 0) ||
			engine_plan_finish(c->plan, &err) < 0)
		return fail(c, "%.200s", err.text);
	c->groups = engine_plan_groups(c->plan, number);
	if (c->groups->is_over)
		return fail(c, "there are more than %zu groups", ENGINE_GROUPS_MAX);
	return query_is_late(c->module->q) ? SQLITE_INTERRUPT : SQLITE_OK;
}

static int engine_call(struct engine_cursor *c)
{
	const char *name = text_argument(c, ARG_TABLE);

	if (!name)
		return fail(c, "the name of a table is missing: %s('io', ...)", engine_kinds[c->module->kind].name);
	c->t = query_table_find(c->module->q, name);
	if (!c->t || store_schema_find(c->t->schema->name) != c->t->schema)
		return fail(c, "there is no table '%.60s'", name);
	c->t->is_asked = true;
	return run_plan(c);
}

/* Groups as rows. */

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

static void engine_group_result(sqlite3_context *ctx, const struct engine_cursor *c, int i)
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

/* The module. */

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **message)
{
	CLEANUP(buf_release) struct buf sql = BUF_INIT;
	struct engine_module *m = aux;
	int rc;

	buf_addf(&sql, "CREATE TABLE x(%s", engine_kinds[m->kind].columns);
	for (unsigned i = 0; i < engine_kinds[m->kind].argument_count; i++)
		buf_addf(&sql, ", \"%s\" HIDDEN", argument_names[engine_kinds[m->kind].arguments[i]]);
	buf_addc(&sql, ')');
	m->q->is_declaring = true;
	rc = query_vtab_connect(db, buf_error(&sql) < 0 ? NULL : sql.data, m, out);
	m->q->is_declaring = false;
	return rc;
}

/* idxNum: a bit for each argument given, in the order of the arguments. */
static int best_index(sqlite3_vtab *v, sqlite3_index_info *info)
{
	const struct engine_function *f = &engine_kinds[((struct engine_module *)query_vtab_what(v))->kind];
	int place[ARGUMENTS];
	int at = 0;

	for (int i = 0; i < ARGUMENTS; i++)
		place[i] = -1;
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];
		int argument = c->iColumn - (int)f->shown;

		if (argument < 0 || c->op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		if (!c->usable)
			return SQLITE_CONSTRAINT; /* usable with another join order */
		place[f->arguments[argument]] = i;
	}
	for (int i = 0; i < ARGUMENTS; i++) {
		if (place[i] < 0)
			continue;
		info->aConstraintUsage[place[i]].argvIndex = ++at;
		info->aConstraintUsage[place[i]].omit = 1;
		info->idxNum |= 1 << i;
	}
	info->estimatedCost = 1e6;
	info->estimatedRows = 100;
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *v, sqlite3_vtab_cursor **out)
{
	return query_vtab_open(&(struct engine_cursor){ .module = query_vtab_what(v) }, sizeof(struct engine_cursor),
			out);
}

static void clear(struct engine_cursor *c)
{
	engine_plan_free(c->plan);
	for (int i = 0; i < ARGUMENTS; i++)
		sqlite3_value_free(c->arguments[i]);
	*c = (struct engine_cursor){ .base = c->base, .module = c->module };
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	clear((struct engine_cursor *)base);
	sqlite3_free(base);
	return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc, sqlite3_value **argv)
{
	struct engine_cursor *c = (struct engine_cursor *)base;
	int at = 0;

	clear(c);
	for (int i = 0; i < ARGUMENTS && at < argc; i++)
		if (number >> i & 1)
			c->arguments[i] = sqlite3_value_dup(argv[at++]);
	return engine_call(c);
}

static int next(sqlite3_vtab_cursor *base)
{
	((struct engine_cursor *)base)->at++;
	return SQLITE_OK;
}

static int eof(sqlite3_vtab_cursor *base)
{
	const struct engine_cursor *c = (struct engine_cursor *)base;

	return !c->groups || c->at >= c->groups->count;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int i)
{
	const struct engine_cursor *c = (struct engine_cursor *)base;
	const struct engine_function *f = &engine_kinds[c->module->kind];
	int argument = i - (int)f->shown;

	if (argument < 0)
		engine_group_result(ctx, c, i);
	else if (c->arguments[f->arguments[argument]])
		sqlite3_result_value(ctx, c->arguments[f->arguments[argument]]);
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	*id = (sqlite3_int64)((struct engine_cursor *)base)->at;
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.xConnect = connect, /* no xCreate: they are eponymous-only and cannot be created */
	.xBestIndex = best_index,
	.xDisconnect = query_vtab_disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = eof,
	.xColumn = column,
	.xRowid = rowid,
};

int query_engine_register(struct query *q)
{
	int rc = SQLITE_OK;

	for (int kind = 0; kind < KINDS && rc == SQLITE_OK; kind++) {
		struct engine_module *arg = arena_alloc(&q->arena, sizeof(*arg));

		if (!arg)
			return SQLITE_NOMEM;
		*arg = (struct engine_module){ q, (enum engine_kind)kind };
		rc = sqlite3_create_module(q->db, engine_kinds[kind].name, &module, arg);
	}
	return rc;
}
