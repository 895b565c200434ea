/* Answer a matched statement by the engine: scan, check that the answer is SQLite's, show the groups as a table. */
#include "query/pushdown.h"

#include "base/cleanup.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Conditions. */

static bool has_value(const struct pushdown_condition *k, int64_t v)
{
	for (unsigned i = 0; i < k->range_count; i++)
		if (v >= k->ranges[i].lo && v <= k->ranges[i].hi)
			return true;
	return false;
}

static void fill_matching(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const struct pushdown *p = arg;

	for (size_t i = 0; i < rows->count; i++)
		out[i] = 1;
	for (unsigned c = 0; c < p->condition_count; c++) {
		const struct pushdown_condition *k = &p->conditions[c];
		const int64_t *values = rows->ints[k->source.number];
		bool is_name = k->column->how == HOW_STRING;

		for (size_t i = 0; i < rows->count; i++) {
			/* an id without a string, which only a damaged run has, is null in SQL */
			bool is_null = values[i] == STORE_NULL || (is_name && !model_name(p->q->run, values[i]));

			out[i] &= k->is_null_test ? is_null != k->is_not
						  : !is_null && has_value(k, values[i]) != k->is_not;
		}
	}
}

/* Add the filter; derived columns are filled in the order in which they are added, so those it reads come first. */
static int add_filter(struct pushdown *p, struct engine_query *e)
{
	struct engine_derive d = { .fill = fill_matching, .arg = p };
	int rc = 0;

	for (unsigned c = 0; c < p->condition_count && rc == 0; c++) {
		struct query_source *s = &p->conditions[c].source;

		s->column = p->conditions[c].column;
		rc = query_source_add(s, p->q, p->plan);
		if (rc == 0 && (s->is_real || d.need_count == ENGINE_NEEDS_MAX))
			rc = -ENOTSUP;
		if (rc == 0 && s->number < STORE_COLUMNS_MAX)
			d.needs[d.need_count++] = s->number;
	}
	if (rc == 0 && p->condition_count)
		e->filter = engine_plan_derive(p->plan, &d);
	return rc < 0 ? rc : e->filter < ENGINE_NONE ? e->filter : 0;
}

/* The rows that start in a range of time: blocks outside are not read. */
static void limit_time(const struct pushdown *p, struct engine_run_opts *opts)
{
	int64_t lo = INT64_MIN + 1, hi = INT64_MAX;

	for (unsigned c = 0; c < p->condition_count; c++) {
		const struct pushdown_condition *k = &p->conditions[c];

		if (k->column->how != HOW_INT || k->column->needs[0] != p->t->time_column || k->is_not ||
				k->range_count != 1)
			continue;
		lo = k->ranges[0].lo > lo ? k->ranges[0].lo : lo;
		hi = k->ranges[0].hi < hi ? k->ranges[0].hi : hi;
	}
	if (hi == INT64_MAX) /* the end of a window is not in it: there is none for this */
		return;
	*opts = (struct engine_run_opts){ .has_range = true, .is_of_starts = true, .from_ns = lo, .to_ns = hi + 1 };
}

/* Aggregates. */

static int add_aggregate(struct engine_query *e, enum engine_op op, int column, unsigned *number)
{
	for (*number = 0; *number < e->aggregate_count; ++*number)
		if (e->aggregates[*number].op == op && e->aggregates[*number].column == column)
			return 0;
	if (e->aggregate_count == ENGINE_AGGREGATES_MAX)
		return -ENOTSUP;
	e->aggregates[e->aggregate_count++] = (struct engine_aggregate){ op, column };
	return 0;
}

static int add_aggregates(struct pushdown *p, struct engine_query *e)
{
	static const enum engine_op ops[] = { [PUSHDOWN_COUNT] = ENGINE_SUM,
		[PUSHDOWN_SUM] = ENGINE_SUM,
		[PUSHDOWN_MIN] = ENGINE_MIN,
		[PUSHDOWN_MAX] = ENGINE_MAX,
		[PUSHDOWN_AVG] = ENGINE_SUM };
	unsigned rows;
	int rc = add_aggregate(e, ENGINE_COUNT, ENGINE_NONE, &rows);

	for (unsigned i = 0; i < p->aggregate_count && rc == 0; i++) {
		struct pushdown_aggregate *a = &p->aggregates[i];
		struct query_source s = { .column = a->column };

		if (a->function == PUSHDOWN_ROWS)
			continue;
		rc = query_source_add(&s, p->q, p->plan); /* bytes have no source of their own: s may go */
		if (rc == 0)
			rc = add_aggregate(e, ops[a->function], s.number, &a->number);
	}
	return rc;
}

/* Whether SQLite computes the same: it fails where a running sum overflows, and adds the values of avg() as doubles. */
static bool is_exact(const struct pushdown *p, const struct pushdown_aggregate *a, size_t i)
{
	if (a->function != PUSHDOWN_SUM && a->function != PUSHDOWN_AVG)
		return true;
	return engine_sum_is_below(p->groups, a->number, i, a->function == PUSHDOWN_SUM ? 0x1p63 : 0x1p53);
}

/* Groups in the order of SQLite: null first, numbers, texts by their bytes. */

static struct store_text text_of(const struct query_source *s, int64_t v)
{
	const struct store_text *name;

	if (v == STORE_NULL)
		return (struct store_text){ .data = NULL };
	if (s->column->how == HOW_PATH)
		return model_path(s->run, (uint32_t)v);
	if (s->column->how == HOW_KIND)
		return (struct store_text){ .data = call_kind_word((unsigned)v),
			.bytes = strlen(call_kind_word((unsigned)v)) };
	name = model_name(s->run, v);
	return name ? *name : (struct store_text){ .data = NULL };
}

static int compare_keys(const struct query_source *s, int64_t a, int64_t b)
{
	struct store_text left, right;
	int order;

	if (a == b)
		return 0;
	if (s->column->how == HOW_INT || s->column->how == HOW_BYTES)
		return a < b ? -1 : 1; /* null is the least integer */
	left = text_of(s, a);
	right = text_of(s, b);
	if (!left.data || !right.data)
		return (left.data != NULL) - (right.data != NULL);
	order = memcmp(left.data, right.data, left.bytes < right.bytes ? left.bytes : right.bytes);
	return order ? order : (left.bytes > right.bytes) - (left.bytes < right.bytes);
}

static int by_keys(const void *a, const void *b, void *arg)
{
	const struct pushdown *p = arg;
	int order = 0;

	for (unsigned k = 0; k < p->key_count && order == 0; k++)
		order = compare_keys(&p->keys[k], engine_key(p->groups, *(const size_t *)a, k),
				engine_key(p->groups, *(const size_t *)b, k));
	return order;
}

/* False if two groups are one in SQL, which only happens in a damaged run, or if an answer would not be SQLite's. */
static bool sort_groups(struct pushdown *p)
{
	p->order = calloc(p->groups->count + 1, sizeof(*p->order));
	if (!p->order || p->groups->is_over)
		return false;
	for (size_t i = 0; i < p->groups->count; i++) {
		if (engine_count(p->groups, 0, i)) /* others have rows that the conditions exclude */
			p->order[p->count++] = i;
		for (unsigned a = 0; a < p->aggregate_count; a++)
			if (!is_exact(p, &p->aggregates[a], i))
				return false;
	}
	if (p->count)
		qsort_r(p->order, p->count, sizeof(*p->order), by_keys, p);
	for (size_t i = 1; i < p->count; i++)
		if (by_keys(&p->order[i - 1], &p->order[i], p) == 0)
			return false;
	return true;
}

bool pushdown_run(struct pushdown *p)
{
	struct engine_query e = { .name = "statement", .filter = ENGINE_NONE };
	struct engine_run_opts opts = { .has_range = false };
	struct sonde_err ignored;
	int rc = engine_plan_new(&p->plan, p->t->schema, &ignored);

	for (unsigned k = 0; k < p->key_count && rc == 0; k++) {
		rc = query_source_add(&p->keys[k], p->q, p->plan);
		e.keys[e.key_count++] = p->keys[k].number;
	}
	if (rc == 0)
		rc = add_filter(p, &e);
	if (rc == 0)
		rc = add_aggregates(p, &e);
	if (rc < 0 || engine_plan_query(p->plan, &e) < 0)
		return false;
	limit_time(p, &opts);
	p->t->is_asked = true;
	if (engine_plan_run(p->plan, p->t->table, &opts, &ignored) < 0 || engine_plan_finish(p->plan, &ignored) < 0)
		return false;
	p->groups = engine_plan_groups(p->plan, 0);
	return sort_groups(p);
}

void pushdown_release(struct pushdown *p)
{
	engine_plan_free(p->plan);
	free(p->order);
	buf_release(&p->sql);
	*p = (struct pushdown){ .sql = BUF_INIT };
}

/* The table of groups. A statement without keys has one group, even of no rows. */

enum { TEXTS = ENGINE_KEYS_MAX, AGGREGATES = 2 * ENGINE_KEYS_MAX };

static const struct pushdown *shown(const sqlite3_vtab_cursor *base)
{
	return ((const struct query *)query_vtab_what(base->pVtab))->pushdown;
}

/* Keys have the affinity of their columns, aggregates none, as in the statement that they replace. */
static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **message)
{
	CLEANUP(buf_release) struct buf sql = BUF_INIT;
	struct query *q = aux;
	int rc;

	buf_adds(&sql,
			"CREATE TABLE x(\"sonde i0\" INTEGER, \"sonde i1\" INTEGER, "
			"\"sonde t0\" TEXT, \"sonde t1\" TEXT");
	for (unsigned i = 0; i < ENGINE_AGGREGATES_MAX; i++)
		buf_addf(&sql, ", \"sonde a%u\"", i);
	buf_addc(&sql, ')');
	q->is_declaring = true;
	rc = query_vtab_connect(db, buf_error(&sql) < 0 ? NULL : sql.data, q, out);
	q->is_declaring = false;
	return rc;
}

static int best_index(sqlite3_vtab *v, sqlite3_index_info *info)
{
	const struct query *q = query_vtab_what(v);

	info->estimatedRows = q->pushdown ? (sqlite3_int64)q->pushdown->count : 1;
	info->estimatedCost = (double)info->estimatedRows;
	return SQLITE_OK;
}

static int open_cursor(sqlite3_vtab *v, sqlite3_vtab_cursor **out)
{
	return query_vtab_open(&(struct query_rows){ .at = 0 }, sizeof(struct query_rows), out);
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc, sqlite3_value **argv)
{
	struct query_rows *rows = (struct query_rows *)base;
	const struct pushdown *p = shown(base);

	if (!p)
		return query_vtab_fail(base->pVtab, PUSHDOWN_GROUPS, "this table is internal");
	*rows = (struct query_rows){ .base = *base, .count = p->key_count ? p->count : 1 };
	return SQLITE_OK;
}

static void aggregate_result(sqlite3_context *ctx, const struct pushdown *p, const struct pushdown_aggregate *a,
		size_t i)
{
	const struct engine_groups *g = p->groups;
	int64_t v;

	switch (a->function) {
	case PUSHDOWN_ROWS:
		sqlite3_result_int64(ctx, (int64_t)engine_count(g, 0, i));
		break;
	case PUSHDOWN_COUNT:
		sqlite3_result_int64(ctx, (int64_t)engine_count(g, a->number, i));
		break;
	case PUSHDOWN_SUM:
		if (engine_count(g, a->number, i))
			sqlite3_result_int64(ctx, engine_sum(g, a->number, i));
		break;
	case PUSHDOWN_AVG:
		if (engine_count(g, a->number, i))
			sqlite3_result_double(ctx,
					(double)engine_sum(g, a->number, i) / (double)engine_count(g, a->number, i));
		break;
	default:
		v = engine_extreme(g, a->number, i);
		if (v != STORE_NULL)
			sqlite3_result_int64(ctx, v);
	}
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int i)
{
	const struct pushdown *p = shown(base);
	size_t at = ((struct query_rows *)base)->at;
	unsigned number = (unsigned)i - AGGREGATES;

	if (i < AGGREGATES)
		query_source_result(ctx, &p->keys[i % TEXTS], engine_key(p->groups, p->order[at], (unsigned)i % TEXTS));
	else if (p->count)
		aggregate_result(ctx, p, &p->aggregates[number], p->order[at]);
	else if (p->aggregates[number].function <= PUSHDOWN_COUNT)
		sqlite3_result_int64(ctx, 0); /* of no rows; other aggregates are null */
	return SQLITE_OK;
}

const sqlite3_module query_groups_module = {
	.xConnect = connect, /* no xCreate: it is eponymous-only and cannot be created */
	.xBestIndex = best_index,
	.xDisconnect = query_vtab_disconnect,
	.xOpen = open_cursor,
	.xClose = query_rows_close,
	.xFilter = filter,
	.xNext = query_rows_next,
	.xEof = query_rows_eof,
	.xColumn = column,
	.xRowid = query_rows_rowid,
};
