/*
 * store-vtab: a store table as a virtual table of SQLite, in three files. Private to query/store-vtab*.c.
 *
 * The choice of xBestIndex (store-vtab-plan.c) is passed as text: "<mask of columns> <mode> {<column>
 * <operator>}...". A scan (store-vtab-cursor.c) skips blocks by their zone maps, loads the constrained columns, and
 * the others only if a row matches. A lookup uses an index (index.c). SQLite checks every constraint again, so
 * unusable ones are ignored.
 */
#ifndef SONDE_QUERY_STORE_VTAB_H
#define SONDE_QUERY_STORE_VTAB_H

#include "query/query-private.h"

enum query_mode { QUERY_SCAN, QUERY_LOOKUP };
#define QUERY_CONDITIONS_MAX 16

/* A constraint: the column's value is in [lo, hi]. */
struct query_condition {
	int column; /* of the store */
	int64_t lo, hi;
};

struct query_cursor {
	sqlite3_vtab_cursor base;
	struct query_table *t;
	int needs[STORE_COLUMNS_MAX];
	size_t need_count;
	struct query_condition conditions[QUERY_CONDITIONS_MAX];
	size_t condition_count;
	struct store_batch tested, batch;
	/* The matching rows of a block: all, or those in `rows`. */
	size_t block, at, count;
	uint32_t *rows;
	size_t rows_cap;
	bool is_all, is_over;
	/* of a lookup */
	const struct query_index *index;
	size_t entry, entry_end;
	struct store_batch *batches; /* by block */
	bool *is_loaded;
};

/* store-vtab-plan.c: xConnect, xBestIndex. */
int query_connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **message);
int query_best_index(sqlite3_vtab *v, sqlite3_index_info *info);

/*
 * store-vtab-cursor.c: matching rows. Return SQLite result codes; after a release a cursor can only be released
 * again.
 */
void query_cursor_release(struct query_cursor *c);
/* Load the columns of the mask; bit 63 stands for column 63 and all after it. */
void query_cursor_need(struct query_cursor *c, unsigned long long mask);
/* False if no row can match. */
bool query_cursor_add(struct query_cursor *c, int column, int op, sqlite3_value *value);
/*
 * Go to the first row, by the index for the first constraint (an equality on an INT column) or by a scan; or to the
 * next.
 */
int query_cursor_look_up(struct query_cursor *c);
int query_cursor_next_block(struct query_cursor *c);
int query_cursor_next(struct query_cursor *c);
/* The batch and row number of the current row. */
const struct store_batch *query_cursor_place(const struct query_cursor *c, size_t *row);

#endif
