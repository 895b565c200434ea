/*
 * The engine's aggregates as table functions: one parallel scan of a table instead of one row at a time through
 * SQLite.
 *
 * A function is a row of `engine_kinds`: its columns, followed by its arguments as hidden columns. xFilter calls it
 * (engine-vtab-plan.c), and the cursor iterates over the groups.
 */
#include "query/engine-vtab-private.h"

#include "base/cleanup.h"

static const char *const argument_names[ARGUMENTS] = { "table_name", "column_name", "p", "n", "by", "by2", "since_ns",
	"until_ns" };

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
