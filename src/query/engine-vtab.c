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

/*
 * A column of functions: the aggregate that it is read from, of integers and of reals (OPS: none), and the
 * p of a quantile; `value` has that of the call. Those from `sum` on are of the column that is given.
 */
#define OUTPUT_COLUMNS(X) \
	X(KEY, "key", OPS, OPS, 0) \
	X(KEY2, "key2", OPS, OPS, 0) \
	X(BUCKET, "bucket", OPS, OPS, 0) \
	X(FROM, "from_ns", OPS, OPS, 0) \
	X(TO, "to_ns", OPS, OPS, 0) \
	X(COUNT, "count", COUNT, COUNT, 0) \
	X(TOTAL, "total_ns", TIME, TIME, 0) \
	X(UNION, "union_ns", CONCURRENCY, CONCURRENCY, 0) \
	X(MOST, "most_at_once", CONCURRENCY, CONCURRENCY, 0) \
	X(SUM, "sum", SUM, SUM_REAL, 0) \
	X(MEAN, "mean", SUM, SUM_REAL, 0) \
	X(STDDEV, "stddev", MOMENTS, OPS, 0) \
	X(MIN, "min", MIN, QUANTILES, 0) \
	X(MAX, "max", MAX, QUANTILES, 1) \
	X(VALUE, "value", QUANTILES, QUANTILES, 0) \
	X(P50, "p50", QUANTILES, QUANTILES, 0.5) \
	X(P95, "p95", QUANTILES, QUANTILES, 0.95) \
	X(P99, "p99", QUANTILES, QUANTILES, 0.99) \
	X(DISTINCT, "distinct_values", DISTINCT, OPS, 0)
#define OUTPUT_NUMBER(id, name, op, real_op, p) OUT_##id,
#define OUTPUT_ROW(id, name, op, real_op, p) { name, ENGINE_##op, ENGINE_##real_op, p },

enum output { OUTPUT_COLUMNS(OUTPUT_NUMBER) OUTPUTS };
static const struct {
	const char *name;
	enum engine_op op, real_op;
	double p;
} outputs[OUTPUTS] = { OUTPUT_COLUMNS(OUTPUT_ROW) };

static const char *const argument_names[ARGUMENTS] = { "table_name", "column_name", "p", "n", "by", "by2", "since_ns",
	"until_ns" };

static const struct engine_function {
	const char *name;
	unsigned output_count;
	enum output outputs[12];
	unsigned argument_count;
	enum argument arguments[8];
} engine_kinds[KINDS] = {
	[KIND_STATS] = { "stats", 12,
			{ OUT_KEY, OUT_KEY2, OUT_COUNT, OUT_SUM, OUT_MEAN, OUT_STDDEV, OUT_MIN, OUT_MAX, OUT_P50,
					OUT_P95, OUT_P99, OUT_DISTINCT },
			6, { ARG_TABLE, ARG_COLUMN, ARG_BY, ARG_BY2, ARG_FROM, ARG_TO } },
	[KIND_QUANTILE] = { "quantile", 4, { OUT_KEY, OUT_KEY2, OUT_COUNT, OUT_VALUE }, 7,
			{ ARG_TABLE, ARG_COLUMN, ARG_P, ARG_BY, ARG_BY2, ARG_FROM, ARG_TO } },
	[KIND_UNION] = { "union_ns", 6, { OUT_KEY, OUT_KEY2, OUT_COUNT, OUT_TOTAL, OUT_UNION, OUT_MOST }, 5,
			{ ARG_TABLE, ARG_BY, ARG_BY2, ARG_FROM, ARG_TO } },
	[KIND_BUCKETS] = { "buckets", 8,
			{ OUT_BUCKET, OUT_FROM, OUT_TO, OUT_KEY, OUT_COUNT, OUT_SUM, OUT_MIN, OUT_MAX }, 6,
			{ ARG_TABLE, ARG_N, ARG_COLUMN, ARG_BY, ARG_FROM, ARG_TO } },
};

/* A table function of an open run. */
struct engine_module {
	struct query *q;
	enum engine_kind kind;
};

struct engine_cursor {
	struct query_rows rows; /* groups */
	const struct engine_module *module;
	sqlite3_value *arguments[ARGUMENTS];
	struct query_table *t;
	struct query_source value, keys[ENGINE_KEYS_MAX];
	unsigned key_count;
	int aggregates[OUTPUTS]; /* of the query; -1: none, which is null */
	double p;
	int64_t start_ns, width_ns; /* of buckets */
	struct engine_plan *plan;
	const struct engine_groups *groups;
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
	return query_vtab_fail(c->rows.base.pVtab, engine_kinds[c->module->kind].name, text);
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

/* The aggregates that the outputs are read from, each once. */
static void add_aggregates(struct engine_cursor *c, struct engine_query *e)
{
	const struct engine_function *f = &engine_kinds[c->module->kind];
	int duration = store_schema_column(c->t->schema, "dur_ns");

	for (unsigned i = 0; i < f->output_count; i++) {
		enum output out = f->outputs[i];
		bool is_of_value = out >= OUT_SUM;
		struct engine_aggregate a = { c->value.is_real ? outputs[out].real_op : outputs[out].op,
			is_of_value ? c->value.number : ENGINE_NONE };
		unsigned n = 0;

		/* The sum of durations is time, clipped to the window; their mean is one of whole durations. */
		if (out == OUT_SUM && c->value.column && c->value.number == duration)
			a = (struct engine_aggregate){ ENGINE_TIME, ENGINE_NONE };
		c->aggregates[out] = -1;
		if (a.op == ENGINE_OPS || (is_of_value && !c->value.column) ||
				(a.op == ENGINE_QUANTILES && c->module->kind == KIND_BUCKETS)) /* too many sketches */
			continue;
		while (n < e->aggregate_count && (e->aggregates[n].op != a.op || e->aggregates[n].column != a.column))
			n++;
		e->aggregates[n] = a;
		e->aggregate_count += n == e->aggregate_count;
		c->aggregates[out] = (int)n;
	}
}

static int plan_kind(struct engine_cursor *c, struct engine_query *e)
{
	enum engine_kind kind = c->module->kind;
	const char *column = text_argument(c, ARG_COLUMN);
	int rc = SQLITE_OK;

	if (!column && (kind == KIND_STATS || kind == KIND_QUANTILE))
		return fail(c, "the column is missing");
	if (kind == KIND_UNION && (store_schema_column(c->t->schema, "dur_ns") < 0 || c->t->time_column < 0))
		return fail(c, "the rows of the table '%s' have no duration", c->t->schema->name);
	if (column)
		rc = take_source(c, column, false, &c->value);
	if (rc == SQLITE_OK && kind == KIND_BUCKETS)
		rc = take_buckets(c, e);
	if (rc == SQLITE_OK)
		rc = take_keys(c, e);
	add_aggregates(c, e);
	return rc;
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
	c->rows.count = c->groups->count;
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
		return fail(c, "unknown table '%.60s'", name);
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
		query_source_result(ctx, &c->keys[i], engine_key(c->groups, c->rows.at, before + i));
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

static void union_result(sqlite3_context *ctx, const struct engine_cursor *c, unsigned a, bool is_most)
{
	struct engine_sweep_set set = { .cover = interval_set(c->groups, a, c->rows.at) };
	struct widest w = { .most = 0 };

	if (set.cover && engine_sweep(&set, 1, visit, &w) < 0)
		sqlite3_result_error_nomem(ctx);
	else
		sqlite3_result_int64(ctx, is_most ? (int64_t)w.most : w.ns);
}

static void quantile_result(sqlite3_context *ctx, const struct engine_cursor *c, unsigned a, double p)
{
	double v = c->groups->has_no_quantiles ? NAN : engine_quantile(c->groups, a, c->rows.at, p);

	if (c->value.is_real || isnan(v))
		sqlite3_result_double(ctx, v);
	else
		sqlite3_result_int64(ctx, llround(v));
}

static void bucket_result(sqlite3_context *ctx, const struct engine_cursor *c, enum output out)
{
	int64_t bucket = engine_key(c->groups, c->rows.at, 0);

	if (bucket != STORE_NULL)
		sqlite3_result_int64(ctx,
				out == OUT_BUCKET ? bucket : c->start_ns + (bucket + (out == OUT_TO)) * c->width_ns);
}

static void aggregate_result(sqlite3_context *ctx, const struct engine_cursor *c, enum output out, unsigned a)
{
	const struct engine_groups *g = c->groups;
	size_t at = c->rows.at;

	switch (out) {
	case OUT_COUNT:
		sqlite3_result_int64(ctx, (int64_t)engine_count(g, a, at));
		break;
	case OUT_UNION:
	case OUT_MOST:
		union_result(ctx, c, a, out == OUT_MOST);
		break;
	case OUT_TOTAL:
	case OUT_SUM:
		if (c->value.is_real)
			sqlite3_result_double(ctx, engine_mean(g, a, at) * (double)engine_count(g, a, at));
		else
			sqlite3_result_int64(ctx, engine_sum(g, a, at));
		break;
	case OUT_MEAN:
		sqlite3_result_double(ctx, engine_mean(g, a, at));
		break;
	case OUT_STDDEV:
		sqlite3_result_double(ctx, sqrt(engine_variance(g, a, at)));
		break;
	case OUT_DISTINCT:
		sqlite3_result_int64(ctx, (int64_t)engine_distinct(g, a, at));
		break;
	default:
		if (!c->value.is_real && out <= OUT_MAX)
			int_or_null(ctx, engine_extreme(g, a, at));
		else
			quantile_result(ctx, c, a, out == OUT_VALUE ? c->p : outputs[out].p);
	}
}

static void output_result(sqlite3_context *ctx, const struct engine_cursor *c, enum output out)
{
	if (out <= OUT_KEY2)
		key_result(ctx, c, out);
	else if (out <= OUT_TO)
		bucket_result(ctx, c, out);
	else if (c->aggregates[out] >= 0)
		aggregate_result(ctx, c, out, (unsigned)c->aggregates[out]);
}

/* The module. */

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **message)
{
	CLEANUP(buf_release) struct buf sql = BUF_INIT;
	struct engine_module *m = aux;
	int rc;

	buf_adds(&sql, "CREATE TABLE x(");
	for (unsigned i = 0; i < engine_kinds[m->kind].output_count; i++)
		buf_addf(&sql, "%s%s", i ? ", " : "", outputs[engine_kinds[m->kind].outputs[i]].name);
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
		int argument = c->iColumn - (int)f->output_count;

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
	*c = (struct engine_cursor){ .rows.base = c->rows.base, .module = c->module };
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

static int column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int i)
{
	const struct engine_cursor *c = (struct engine_cursor *)base;
	const struct engine_function *f = &engine_kinds[c->module->kind];
	int argument = i - (int)f->output_count;

	if (argument < 0)
		output_result(ctx, c, f->outputs[i]);
	else if (c->arguments[f->arguments[argument]])
		sqlite3_result_value(ctx, c->arguments[f->arguments[argument]]);
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.xConnect = connect, /* no xCreate: they are eponymous-only and cannot be created */
	.xBestIndex = best_index,
	.xDisconnect = query_vtab_disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = query_rows_next,
	.xEof = query_rows_eof,
	.xColumn = column,
	.xRowid = query_rows_rowid,
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
