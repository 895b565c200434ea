/*
 * The engine's aggregates as table functions: one parallel scan of a table
 * instead of a row at a time through SQLite.
 *
 * A function is a row of `kinds`: its columns, and behind them its arguments
 * as hidden columns. xFilter turns the arguments into a plan, runs it, and the
 * cursor walks over the groups.
 */
#include "query/private.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum engine_kind { KIND_STATS, KIND_QUANTILE, KIND_UNION, KIND_BUCKETS, KINDS };
enum argument { ARG_TABLE, ARG_COLUMN, ARG_P, ARG_N, ARG_BY, ARG_BY2, ARG_FROM, ARG_TO, ARGUMENTS };

static const char *const argument_names[ARGUMENTS] = { "table_name", "column_name", "p", "n", "by", "by2", "since_ns",
	"until_ns" };

#define BUCKETS_MAX 100000

static const struct {
	const char *name, *columns;
	unsigned shown; /* columns before the hidden ones */
	unsigned argument_count;
	enum argument arguments[8];
} kinds[KINDS] = {
	[KIND_STATS] = { "stats", "key, key2, count, sum, mean, stddev, min, max, p50, p95, p99, distinct_values", 12,
			6, { ARG_TABLE, ARG_COLUMN, ARG_BY, ARG_BY2, ARG_FROM, ARG_TO } },
	[KIND_QUANTILE] = { "quantile", "key, key2, count, value", 4, 7,
			{ ARG_TABLE, ARG_COLUMN, ARG_P, ARG_BY, ARG_BY2, ARG_FROM, ARG_TO } },
	[KIND_UNION] = { "union_ns", "key, key2, count, total_ns, union_ns, most_at_once", 6, 5,
			{ ARG_TABLE, ARG_BY, ARG_BY2, ARG_FROM, ARG_TO } },
	[KIND_BUCKETS] = { "buckets", "bucket, from_ns, to_ns, key, count, sum, min, max", 8, 6,
			{ ARG_TABLE, ARG_N, ARG_COLUMN, ARG_BY, ARG_FROM, ARG_TO } },
};

struct vtab {
	sqlite3_vtab base;
	struct query *q;
	enum engine_kind kind;
};

/* What a key or value is made from. */
struct source {
	const struct query_column *column; /* NULL: none */
	int number;                        /* in the plan */
	bool is_real;
};

struct cursor {
	sqlite3_vtab_cursor base;
	struct vtab *v;
	sqlite3_value *arguments[ARGUMENTS];
	struct query_table *t;
	struct source value, keys[ENGINE_KEYS_MAX];
	unsigned key_count;
	double p;
	int64_t start_ns, width_ns; /* of buckets */
	struct engine_plan *plan;
	const struct engine_groups *groups;
	size_t at;
};

struct module_arg {
	struct query *q;
	enum engine_kind kind;
};

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **message)
{
	const struct module_arg *a = aux;
	struct buf sql = BUF_INIT;
	struct vtab *v;
	int rc;

	(void)argc, (void)argv, (void)message;
	buf_addf(&sql, "CREATE TABLE x(%s", kinds[a->kind].columns);
	for (unsigned i = 0; i < kinds[a->kind].argument_count; i++)
		buf_addf(&sql, ", \"%s\" HIDDEN", argument_names[kinds[a->kind].arguments[i]]);
	buf_addc(&sql, ')');
	a->q->is_declaring = true;
	rc = buf_error(&sql) < 0 ? SQLITE_NOMEM : sqlite3_declare_vtab(db, sql.data);
	a->q->is_declaring = false;
	buf_release(&sql);
	if (rc != SQLITE_OK)
		return rc;
	v = sqlite3_malloc64(sizeof(*v));
	if (!v)
		return SQLITE_NOMEM;
	*v = (struct vtab){ .q = a->q, .kind = a->kind };
	*out = &v->base;
	return SQLITE_OK;
}

static int disconnect(sqlite3_vtab *v)
{
	sqlite3_free(v);
	return SQLITE_OK;
}

/* idxNum: a bit for each argument that is there, in the order of the arguments. */
static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
	const struct vtab *v = (struct vtab *)base;
	int place[ARGUMENTS];
	int at = 0;

	for (int i = 0; i < ARGUMENTS; i++)
		place[i] = -1;
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];
		int argument = c->iColumn - (int)kinds[v->kind].shown;

		if (argument < 0 || c->op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		if (!c->usable)
			return SQLITE_CONSTRAINT; /* another order of tables can give it */
		place[kinds[v->kind].arguments[argument]] = i;
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
	struct cursor *c = sqlite3_malloc64(sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	*c = (struct cursor){ .v = (struct vtab *)v };
	*out = &c->base;
	return SQLITE_OK;
}

static void clear(struct cursor *c)
{
	engine_plan_free(c->plan);
	for (int i = 0; i < ARGUMENTS; i++)
		sqlite3_value_free(c->arguments[i]);
	*c = (struct cursor){ .base = c->base, .v = c->v };
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	clear((struct cursor *)base);
	sqlite3_free(base);
	return SQLITE_OK;
}

static int fail(struct cursor *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int fail(struct cursor *c, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	sqlite3_free(c->base.pVtab->zErrMsg);
	c->base.pVtab->zErrMsg = sqlite3_mprintf("%s: %s", kinds[c->v->kind].name, text);
	return SQLITE_ERROR;
}

/* Derived columns. */

static void fill_path(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const struct cursor *c = arg;
	const int64_t *files = rows->ints[c->t->schema == &store_io_schema ? STORE_IO_file : 0];

	for (size_t i = 0; i < rows->count; i++) {
		uint32_t number = model_known_number(c->v->q->run, files[i]);

		out[i] = number ? (int64_t)number : STORE_NULL;
	}
}

static void fill_bytes(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const struct cursor *c = arg;

	for (size_t i = 0; i < rows->count; i++) {
		const struct model_call *call = model_call(c->v->q->run, rows->ints[STORE_IO_call][i]);

		out[i] = call && call->bytes == MODEL_BYTES_NONE
				? STORE_NULL
				: (int64_t)model_call_bytes(call, rows->ints[STORE_IO_ret][i],
						  rows->ints[STORE_IO_size][i], rows->ints[STORE_IO_arg0][i]);
	}
}

static void fill_bucket(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const struct cursor *c = arg;
	const int64_t *ts = rows->ints[c->t->time_column];

	for (size_t i = 0; i < rows->count; i++)
		out[i] = ts[i] == STORE_NULL          ? STORE_NULL
				: ts[i] < c->start_ns ? 0 /* it began before the range and reaches into it */
						      : (ts[i] - c->start_ns) / c->width_ns;
}

static int derive(struct cursor *c, const struct query_column *from)
{
	struct engine_derive d = { .arg = c, .need_count = from->need_count };

	memcpy(d.needs, from->needs, sizeof(from->needs));
	d.fill = from->how == HOW_PATH ? fill_path : fill_bytes;
	return engine_plan_derive(c->plan, &d);
}

/* Arguments. */

static const char *text_argument(const struct cursor *c, enum argument a)
{
	return c->arguments[a] && sqlite3_value_type(c->arguments[a]) != SQLITE_NULL
			? (const char *)sqlite3_value_text(c->arguments[a])
			: NULL;
}

static bool int_argument(const struct cursor *c, enum argument a, int64_t *v)
{
	if (!c->arguments[a] || sqlite3_value_type(c->arguments[a]) == SQLITE_NULL)
		return false;
	*v = sqlite3_value_int64(c->arguments[a]);
	return true;
}

/* A column by its name, as the plan knows it. */
static int take_source(struct cursor *c, const char *name, bool is_key, struct source *out)
{
	const struct query_column *from = query_column_find(c->t, name);

	if (!from)
		return fail(c, "the table '%s' has no column '%.60s'", c->t->schema->name, name);
	out->column = from;
	out->number = from->needs[0];
	out->is_real = from->how == HOW_REAL;
	if (from->how == HOW_PATH && from->needs[0] != (c->t->schema == &store_io_schema ? STORE_IO_file : 0))
		return fail(c, "the column '%s' is not for this", name);
	if (from->how == HOW_PATH || from->how == HOW_BYTES) {
		if (query_load_paths(c->v->q) < 0)
			return SQLITE_NOMEM;
		out->number = derive(c, from);
		return out->number < 0 ? SQLITE_NOMEM : SQLITE_OK;
	}
	if (from->how != HOW_INT && from->how != HOW_STRING && !(from->how == HOW_REAL && !is_key))
		return fail(c, "the column '%s' is text: give one of numbers%s", name, is_key ? " or names" : "");
	return SQLITE_OK;
}

static int take_keys(struct cursor *c, struct engine_query *e)
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

/* The times of a table, as its zone maps tell: [*from, *to); 0 and 0 when it has none. */
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

/* The range asked for is cut into buckets, else all times of the table. */
static int take_buckets(struct cursor *c, struct engine_query *e)
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

static int needs_text(struct cursor *c, enum argument a, const char *what)
{
	return text_argument(c, a) ? SQLITE_OK : fail(c, "%s is missing", what);
}

/* Aggregates in the order that the cursor reads them: the first is always the count. */
static int plan_kind(struct cursor *c, struct engine_query *e)
{
	enum engine_kind kind = c->v->kind;
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
		add(e, ENGINE_SUM, store_schema_column(c->t->schema, "dur_ns"));
		add(e, ENGINE_CONCURRENCY, ENGINE_NONE);
	} else if (has_value) {
		bool is_real = c->value.is_real;

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
	}
	return SQLITE_OK;
}

static int run_plan(struct cursor *c)
{
	struct engine_query e = { .name = kinds[c->v->kind].name, .filter = ENGINE_NONE };
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
	return query_is_late(c->v->q) ? SQLITE_INTERRUPT : SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc, sqlite3_value **argv)
{
	struct cursor *c = (struct cursor *)base;
	const char *name;
	int at = 0;

	(void)text;
	clear(c);
	for (int i = 0; i < ARGUMENTS && at < argc; i++)
		if (number >> i & 1)
			c->arguments[i] = sqlite3_value_dup(argv[at++]);
	name = text_argument(c, ARG_TABLE);
	if (!name)
		return fail(c, "the name of a table is missing: %s('io', ...)", kinds[c->v->kind].name);
	c->t = query_table_find(c->v->q, name);
	if (!c->t || store_schema_find(c->t->schema->name) != c->t->schema)
		return fail(c, "there is no table '%.60s'", name);
	c->t->is_asked = true;
	return run_plan(c);
}

static int next(sqlite3_vtab_cursor *base)
{
	((struct cursor *)base)->at++;
	return SQLITE_OK;
}

static int eof(sqlite3_vtab_cursor *base)
{
	const struct cursor *c = (struct cursor *)base;

	return !c->groups || c->at >= c->groups->count;
}

/* Reading groups. */

static void int_or_null(sqlite3_context *ctx, int64_t v)
{
	if (v != STORE_NULL)
		sqlite3_result_int64(ctx, v);
}

static void key_result(sqlite3_context *ctx, const struct cursor *c, unsigned i)
{
	unsigned before = c->v->kind == KIND_BUCKETS;
	int64_t v;

	if (i >= c->key_count)
		return;
	v = engine_key(c->groups, c->at, before + i);
	if (c->keys[i].column->how == HOW_STRING) {
		query_text_result(ctx, model_name(c->v->q->run, v));
	} else if (c->keys[i].column->how == HOW_PATH) {
		struct store_text path = model_path(c->v->q->run, v == STORE_NULL ? 0 : (uint32_t)v);

		query_text_result(ctx, &path);
	} else {
		int_or_null(ctx, v);
	}
}

struct widest {
	uint64_t most;
	int64_t ns;
};

static void visit(void *arg, int64_t from, int64_t to, uint64_t mask, uint64_t active)
{
	struct widest *w = arg;

	(void)mask;
	w->ns += to - from;
	w->most = active > w->most ? active : w->most;
}

static void union_result(sqlite3_context *ctx, const struct cursor *c, int i)
{
	struct engine_sweep_set set = { .cover = engine_cover(c->groups, 2, c->at) };
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

static void quantile_result(sqlite3_context *ctx, const struct cursor *c, double p)
{
	double v = c->groups->has_no_quantiles ? NAN : engine_quantile(c->groups, 1, c->at, p);

	if (c->value.is_real || isnan(v))
		sqlite3_result_double(ctx, v);
	else
		sqlite3_result_int64(ctx, llround(v));
}

/* Aggregates of stats: count, quantiles, sum, and of integers min, max, moments, distinct. */
static void stats_result(sqlite3_context *ctx, const struct cursor *c, int i)
{
	static const double ps[] = { 0.5, 0.95, 0.99 };
	bool is_real = c->value.is_real;
	size_t at = c->at;

	if (i == 3 && !is_real)
		sqlite3_result_int64(ctx, engine_sum(c->groups, 2, at));
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

static void buckets_result(sqlite3_context *ctx, const struct cursor *c, int i)
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
				i == 5 ? engine_sum(c->groups, 1, c->at)
				       : engine_extreme(c->groups, i == 6 ? 2 : 3, c->at));
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int i)
{
	const struct cursor *c = (struct cursor *)base;

	if (i >= (int)kinds[c->v->kind].shown) {
		enum argument a = kinds[c->v->kind].arguments[i - (int)kinds[c->v->kind].shown];

		if (c->arguments[a])
			sqlite3_result_value(ctx, c->arguments[a]);
	} else if (c->v->kind == KIND_BUCKETS) {
		buckets_result(ctx, c, i);
	} else if (i < 2) {
		key_result(ctx, c, (unsigned)i);
	} else if (i == 2) {
		sqlite3_result_int64(ctx, (int64_t)engine_count(c->groups, 0, c->at));
	} else if (c->v->kind == KIND_UNION) {
		union_result(ctx, c, i);
	} else if (c->v->kind == KIND_QUANTILE) {
		quantile_result(ctx, c, c->p);
	} else {
		stats_result(ctx, c, i);
	}
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	*id = (sqlite3_int64)((struct cursor *)base)->at;
	return SQLITE_OK;
}

static const sqlite3_module module = {
	.xConnect = connect, /* no xCreate: they are there without being created, and cannot be */
	.xBestIndex = best_index,
	.xDisconnect = disconnect,
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
		struct module_arg *arg = arena_alloc(&q->arena, sizeof(*arg));

		if (!arg)
			return SQLITE_NOMEM;
		*arg = (struct module_arg){ q, (enum engine_kind)kind };
		rc = sqlite3_create_module(q->db, kinds[kind].name, &module, arg);
	}
	return rc;
}
