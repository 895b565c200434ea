/* Translate the call of a table function to a plan of the engine: arguments, derived columns, aggregates. */
#include "query/engine-vtab-private.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

static void fill_path(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const struct engine_cursor *c = arg;
	const int64_t *files = rows->ints[c->t->schema == &store_io_schema ? STORE_IO_file : 0];

	for (size_t i = 0; i < rows->count; i++) {
		uint32_t number = model_known_number(c->module->q->run, files[i]);

		out[i] = number ? (int64_t)number : STORE_NULL;
	}
}

static void fill_bytes(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const struct engine_cursor *c = arg;

	for (size_t i = 0; i < rows->count; i++) {
		const struct model_call *call = model_call(c->module->q->run, rows->ints[STORE_IO_call][i]);

		out[i] = model_call_bytes(call, rows->ints[STORE_IO_ret][i], rows->ints[STORE_IO_size][i],
				rows->ints[STORE_IO_arg0][i], rows->ints[STORE_IO_arg1][i]);
	}
}

static void fill_bucket(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const struct engine_cursor *c = arg;
	const int64_t *ts = rows->ints[c->t->time_column];

	for (size_t i = 0; i < rows->count; i++)
		out[i] = ts[i] == STORE_NULL          ? STORE_NULL
				: ts[i] < c->start_ns ? 0 /* it started before the range and extends into it */
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

/* Find a column by name and get its number in the plan. */
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
		if (query_load_paths(c->module->q) < 0)
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

int engine_call(struct engine_cursor *c)
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
