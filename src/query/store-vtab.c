/* The cursor methods of a store table. */
#include "query/store-vtab.h"

#include <stdlib.h>

static int open_cursor(sqlite3_vtab *v, sqlite3_vtab_cursor **out)
{
	return query_vtab_open(&(struct query_cursor){ .t = query_vtab_what(v) }, sizeof(struct query_cursor), out);
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	query_cursor_release((struct query_cursor *)base);
	sqlite3_free(base);
	return SQLITE_OK;
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *text, int argc, sqlite3_value **argv)
{
	struct query_cursor *c = (struct query_cursor *)base;
	char *at;
	unsigned long long mask = strtoull(text, &at, 10);
	long mode = strtol(at, &at, 10);
	bool is_possible = true, is_first_usable = false;

	c->t->is_asked = true;
	c->is_over = !c->t->table;
	c->condition_count = 0;
	c->block = 0;
	c->index = NULL;
	if (c->is_over)
		return SQLITE_OK;
	query_cursor_need(c, mask);
	for (int i = 0; i < argc && is_possible; i++) {
		int column = (int)strtol(at, &at, 10), op = (int)strtol(at, &at, 10);

		is_possible = query_cursor_add(c, column, op, argv[i]);
		is_first_usable |= i == 0 && c->condition_count && c->conditions[0].lo == c->conditions[0].hi;
	}
	if (!is_possible) {
		c->is_over = true;
		return SQLITE_OK;
	}
	return mode == QUERY_LOOKUP && is_first_usable ? query_cursor_look_up(c) : query_cursor_next_block(c);
}

static int next(sqlite3_vtab_cursor *base)
{
	return query_cursor_next((struct query_cursor *)base);
}

static int eof(sqlite3_vtab_cursor *base)
{
	return ((struct query_cursor *)base)->is_over;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int i)
{
	struct query_cursor *c = (struct query_cursor *)base;
	size_t row;
	const struct store_batch *b = query_cursor_place(c, &row);

	query_column_result(ctx, c->t, &c->t->columns[i], b, row);
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	size_t row;
	const struct store_batch *b = query_cursor_place((struct query_cursor *)base, &row);

	*id = (sqlite3_int64)b->first_row + (sqlite3_int64)row;
	return SQLITE_OK;
}

const sqlite3_module query_table_module = {
	.xCreate = query_connect,
	.xConnect = query_connect,
	.xBestIndex = query_best_index,
	.xDisconnect = query_vtab_disconnect,
	.xDestroy = query_vtab_disconnect,
	.xOpen = open_cursor,
	.xClose = close_cursor,
	.xFilter = filter,
	.xNext = next,
	.xEof = eof,
	.xColumn = column,
	.xRowid = rowid,
};
