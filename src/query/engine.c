/*
 * The engine's aggregates as table functions: one parallel scan of a table
 * instead of a row at a time through SQLite.
 *
 * A function is a row of `kinds`: its columns, and behind them its arguments
 * as hidden columns. xFilter turns the arguments into a plan, runs it, and the
 * cursor walks over the groups.
 */
#include "query/engine_private.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const argument_names[ARGUMENTS] = { "table_name", "column_name", "p", "n", "by", "by2", "since_ns",
	"until_ns" };

#define BUCKETS_MAX 100000

const struct engine_function engine_kinds[KINDS] = {
	[KIND_STATS] = { "stats", "key, key2, count, sum, mean, stddev, min, max, p50, p95, p99, distinct_values", 12,
			6, { ARG_TABLE, ARG_COLUMN, ARG_BY, ARG_BY2, ARG_FROM, ARG_TO } },
	[KIND_QUANTILE] = { "quantile", "key, key2, count, value", 4, 7,
			{ ARG_TABLE, ARG_COLUMN, ARG_P, ARG_BY, ARG_BY2, ARG_FROM, ARG_TO } },
	[KIND_UNION] = { "union_ns", "key, key2, count, total_ns, union_ns, most_at_once", 6, 5,
			{ ARG_TABLE, ARG_BY, ARG_BY2, ARG_FROM, ARG_TO } },
	[KIND_BUCKETS] = { "buckets", "bucket, from_ns, to_ns, key, count, sum, min, max", 8, 6,
			{ ARG_TABLE, ARG_N, ARG_COLUMN, ARG_BY, ARG_FROM, ARG_TO } },
};

struct module_arg {
	struct query *q;
	enum engine_kind kind;
};

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **message)
{
	const struct module_arg *a = aux;
	struct buf sql = BUF_INIT;
	struct engine_vtab *v;
	int rc;

	(void)argc, (void)argv, (void)message;
	buf_addf(&sql, "CREATE TABLE x(%s", engine_kinds[a->kind].columns);
	for (unsigned i = 0; i < engine_kinds[a->kind].argument_count; i++)
		buf_addf(&sql, ", \"%s\" HIDDEN", argument_names[engine_kinds[a->kind].arguments[i]]);
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
	*v = (struct engine_vtab){ .q = a->q, .kind = a->kind };
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
	const struct engine_vtab *v = (struct engine_vtab *)base;
	int place[ARGUMENTS];
	int at = 0;

	for (int i = 0; i < ARGUMENTS; i++)
		place[i] = -1;
	for (int i = 0; i < info->nConstraint; i++) {
		const struct sqlite3_index_constraint *c = &info->aConstraint[i];
		int argument = c->iColumn - (int)engine_kinds[v->kind].shown;

		if (argument < 0 || c->op != SQLITE_INDEX_CONSTRAINT_EQ)
			continue;
		if (!c->usable)
			return SQLITE_CONSTRAINT; /* another order of tables can give it */
		place[engine_kinds[v->kind].arguments[argument]] = i;
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
	struct engine_cursor *c = sqlite3_malloc64(sizeof(*c));

	if (!c)
		return SQLITE_NOMEM;
	*c = (struct engine_cursor){ .v = (struct engine_vtab *)v };
	*out = &c->base;
	return SQLITE_OK;
}

static void clear(struct engine_cursor *c)
{
	engine_plan_free(c->plan);
	for (int i = 0; i < ARGUMENTS; i++)
		sqlite3_value_free(c->arguments[i]);
	*c = (struct engine_cursor){ .base = c->base, .v = c->v };
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	clear((struct engine_cursor *)base);
	sqlite3_free(base);
	return SQLITE_OK;
}

static int fail(struct engine_cursor *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int fail(struct engine_cursor *c, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	sqlite3_free(c->base.pVtab->zErrMsg);
	c->base.pVtab->zErrMsg = sqlite3_mprintf("%s: %s", engine_kinds[c->v->kind].name, text);
	return SQLITE_ERROR;
}

/* Derived columns. */

static void fill_path(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const struct engine_cursor *c = arg;
	const int64_t *files = rows->ints[c->t->schema == &store_io_schema ? STORE_IO_file : 0];

	for (size_t i = 0; i < rows->count; i++) {
		uint32_t number = model_known_number(c->v->q->run, files[i]);

		out[i] = number ? (int64_t)number : STORE_NULL;
	}
}

static void fill_bytes(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const struct engine_cursor *c = arg;

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
	const struct engine_cursor *c = arg;
	const int64_t *ts = rows->ints[c->t->time_column];

	for (size_t i = 0; i < rows->count; i++)
		out[i] = ts[i] == STORE_NULL          ? STORE_NULL
				: ts[i] < c->start_ns ? 0 /* it began before the range and reaches into it */
						      : (ts[i] - c->start_ns) / c->width_ns;
}

static int derive(struct engine_cursor *c, const struct query_column *from)
{
	struct engine_derive d = { .arg = c, .need_count = from->need_count };

	memcpy(d.needs, from->needs, sizeof(from->needs));
	d.fill = from->how == HOW_PATH ? fill_path : fill_bytes;
	return engine_plan_derive(c->plan, &d);
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

/* A column by its name, as the plan knows it. */
static int take_source(struct engine_cursor *c, const char *name, bool is_key, struct engine_source *out)
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

/* Aggregates in the order that the cursor reads them: the first is always the count. */
static int plan_kind(struct engine_cursor *c, struct engine_query *e)
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

static int run_plan(struct engine_cursor *c)
{
	struct engine_query e = { .name = engine_kinds[c->v->kind].name, .filter = ENGINE_NONE };
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
	struct engine_cursor *c = (struct engine_cursor *)base;
	const char *name;
	int at = 0;

	(void)text;
	clear(c);
	for (int i = 0; i < ARGUMENTS && at < argc; i++)
		if (number >> i & 1)
			c->arguments[i] = sqlite3_value_dup(argv[at++]);
	name = text_argument(c, ARG_TABLE);
	if (!name)
		return fail(c, "the name of a table is missing: %s('io', ...)", engine_kinds[c->v->kind].name);
	c->t = query_table_find(c->v->q, name);
	if (!c->t || store_schema_find(c->t->schema->name) != c->t->schema)
		return fail(c, "there is no table '%.60s'", name);
	c->t->is_asked = true;
	return run_plan(c);
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
	int argument = i - (int)engine_kinds[c->v->kind].shown;

	if (argument < 0)
		engine_group_result(ctx, c, i);
	else if (c->arguments[engine_kinds[c->v->kind].arguments[argument]])
		sqlite3_result_value(ctx, c->arguments[engine_kinds[c->v->kind].arguments[argument]]);
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	*id = (sqlite3_int64)((struct engine_cursor *)base)->at;
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
		rc = sqlite3_create_module(q->db, engine_kinds[kind].name, &module, arg);
	}
	return rc;
}
