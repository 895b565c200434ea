/* Declare a store table to SQLite (xConnect), and choose the constraints to push down (xBestIndex). */
#include "query/store-vtab.h"

#include "base/cleanup.h"

#include <string.h>

/* Connecting. */

int query_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **message)
{
	CLEANUP(buf_release) struct buf sql = BUF_INIT;
	struct query_table *t = argc > 2 ? query_table_find(aux, argv[2]) : NULL;

	if (!t)
		return SQLITE_ERROR;
	buf_adds(&sql, "CREATE TABLE x(");
	for (unsigned i = 0; i < t->column_count; i++)
		buf_addf(&sql, "%s\"%s\" %s", i ? ", " : "", t->columns[i].name, query_how_type(t->columns[i].how));
	buf_addc(&sql, ')');
	return query_vtab_connect(db, buf_error(&sql) < 0 ? NULL : sql.data, t, out);
}

/* Planning. */

static bool is_range(int op)
{
	return op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GT ||
			op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_LT ||
			op == SQLITE_INDEX_CONSTRAINT_LE;
}

static bool is_usable(const struct query_table *t, sqlite3_index_info *info, int i)
{
	const struct sqlite3_index_constraint *c = &info->aConstraint[i];
	enum query_how how;

	if (!c->usable || c->iColumn < 0 || c->iColumn >= (int)t->column_count || !is_range(c->op))
		return false;
	how = t->columns[c->iColumn].how;
	if (how == HOW_STRING)
		return c->op == SQLITE_INDEX_CONSTRAINT_EQ && strcmp(sqlite3_vtab_collation(info, i), "BINARY") == 0;
	return how == HOW_INT;
}

static bool can_look_up(const struct query_table *t, const struct sqlite3_index_constraint *c)
{
	return t->table && c->op == SQLITE_INDEX_CONSTRAINT_EQ && t->columns[c->iColumn].how == HOW_INT &&
			store_table_blocks(t->table) <= QUERY_INDEX_BLOCKS;
}

static double share(const struct query_table *t, const struct sqlite3_index_constraint *c)
{
	bool is_time = t->columns[c->iColumn].needs[0] == t->time_column;

	return c->op == SQLITE_INDEX_CONSTRAINT_EQ ? 0.05 : is_time ? 0.25 : 0.5;
}

int query_best_index(sqlite3_vtab *v, sqlite3_index_info *info)
{
	const struct query_table *t = query_vtab_what(v);
	double rows = t->table ? (double)store_table_rows(t->table) : 0, left = rows;
	struct buf text = BUF_INIT;
	int chosen[QUERY_CONDITIONS_MAX], count = 0, mode = QUERY_SCAN;

	for (int i = 0; i < info->nConstraint && count < QUERY_CONDITIONS_MAX; i++) {
		if (!is_usable(t, info, i))
			continue;
		chosen[count++] = i;
		left *= share(t, &info->aConstraint[i]);
		if (mode == QUERY_SCAN && can_look_up(t, &info->aConstraint[i])) {
			mode = QUERY_LOOKUP;
			chosen[count - 1] = chosen[0];
			chosen[0] = i;
		}
	}
	buf_addf(&text, "%llu %d", (unsigned long long)info->colUsed, mode);
	for (int k = 0; k < count; k++) {
		info->aConstraintUsage[chosen[k]].argvIndex = k + 1;
		buf_addf(&text, " %d %d", info->aConstraint[chosen[k]].iColumn, info->aConstraint[chosen[k]].op);
	}
	info->idxStr = buf_error(&text) < 0 ? NULL : sqlite3_mprintf("%s", text.data);
	info->needToFreeIdxStr = 1;
	buf_release(&text);
	info->estimatedRows = (sqlite3_int64)left + 1;
	info->estimatedCost = mode == QUERY_LOOKUP ? 10 + left : 100 + (rows + 3 * left) / 4;
	return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}
