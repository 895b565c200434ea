/*
 * A store table as a virtual table of SQLite.
 *
 * The choice of xBestIndex is passed as text: "<mask of columns> <mode> {<column> <operator>}...". A scan skips blocks
 * by their zone maps, loads the constrained columns, and the others only if a row matches. A lookup uses an index
 * (index.c). SQLite checks every constraint again, so unusable ones are ignored.
 */
#include "base/cleanup.h"
#include "query/query-private.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Connecting. */

static int connect(sqlite3 *db, void *aux, int argc, const char *const *argv, sqlite3_vtab **out, char **message)
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

static int best_index(sqlite3_vtab *v, sqlite3_index_info *info)
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

/* Scans and lookups: the rows that match the constraints. Functions return SQLite result codes. */

static void release_batches(struct query_cursor *c)
{
	for (size_t i = 0; c->batches && i < store_table_blocks(c->t->table); i++)
		store_batch_release(&c->batches[i]);
	free(c->batches);
	free(c->is_loaded);
	c->batches = NULL;
	c->is_loaded = NULL;
}

static void release_cursor(struct query_cursor *c)
{
	release_batches(c);
	store_batch_release(&c->tested);
	store_batch_release(&c->batch);
	free(c->rows);
	c->rows = NULL;
}

static void need(struct query_cursor *c, int column)
{
	for (size_t i = 0; i < c->need_count; i++)
		if (c->needs[i] == column)
			return;
	c->needs[c->need_count++] = column;
}

/* Load the columns of the mask; bit 63 stands for column 63 and all after it. */
static void need_mask(struct query_cursor *c, unsigned long long mask)
{
	c->need_count = 0;
	for (unsigned i = 0; i < c->t->column_count; i++)
		if (mask >> (i < 63 ? i : 63) & 1)
			for (unsigned k = 0; k < c->t->columns[i].need_count; k++)
				need(c, c->t->columns[i].needs[k]);
	if (!c->need_count)
		need(c, c->t->time_column >= 0 ? c->t->time_column : 0);
}

/* An integer as a bound; reals are rounded inwards. */
static void bound_int(struct query_condition *k, int op, int64_t v)
{
	if (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_GE)
		k->lo = v;
	if (op == SQLITE_INDEX_CONSTRAINT_EQ || op == SQLITE_INDEX_CONSTRAINT_LE)
		k->hi = v;
	if (op == SQLITE_INDEX_CONSTRAINT_GT)
		k->lo = v < INT64_MAX ? v + 1 : v;
	if (op == SQLITE_INDEX_CONSTRAINT_LT)
		k->hi = v > INT64_MIN ? v - 1 : v;
}

/* Bounds may be too wide by one: SQLite checks again. */
static void bound_real(struct query_condition *k, int op, double v)
{
	if (fabs(v) > 9e18)
		return;
	if (op != SQLITE_INDEX_CONSTRAINT_LT && op != SQLITE_INDEX_CONSTRAINT_LE)
		k->lo = (int64_t)floor(v) - 1;
	if (op != SQLITE_INDEX_CONSTRAINT_GT && op != SQLITE_INDEX_CONSTRAINT_GE)
		k->hi = (int64_t)ceil(v) + 1;
}

/* False if no row can match. */
static bool add_condition(struct query_cursor *c, int column, int op, sqlite3_value *value)
{
	const struct query_column *from = &c->t->columns[column];
	struct query_condition k = { .column = from->needs[0], .lo = INT64_MIN + 1, .hi = INT64_MAX };
	int type = sqlite3_value_type(value);
	int64_t id;

	if (type == SQLITE_NULL)
		return false;
	if (from->how == HOW_STRING) {
		if (type != SQLITE_TEXT ||
				!query_string_id(c->t->query, (const char *)sqlite3_value_text(value),
						(size_t)sqlite3_value_bytes(value), &id))
			return true;
		if (id == STORE_NULL)
			return false;
		bound_int(&k, SQLITE_INDEX_CONSTRAINT_EQ, id);
	} else if (type == SQLITE_INTEGER) {
		bound_int(&k, op, sqlite3_value_int64(value));
	} else if (type == SQLITE_FLOAT) {
		bound_real(&k, op, sqlite3_value_double(value));
	} else {
		return true;
	}
	c->conditions[c->condition_count++] = k;
	return true;
}

static bool zone_passes(const struct query_cursor *c, size_t block)
{
	const struct store_block_info *info = store_block_info(c->t->table, block);

	for (size_t i = 0; i < c->condition_count; i++) {
		const struct query_condition *k = &c->conditions[i];

		if (k->lo > k->hi)
			return false;
		if (k->column == c->t->time_column &&
				(info->time_min_ns == STORE_NULL || info->time_max_ns < k->lo ||
						info->time_min_ns > k->hi))
			return false;
	}
	return true;
}

/* Select the rows of the loaded block that match all constraints. */
static int select_rows(struct query_cursor *c)
{
	size_t n = c->tested.rows, count = 0;

	if (c->rows_cap < n) {
		uint32_t *rows = reallocarray(c->rows, n, sizeof(*rows));

		if (!rows)
			return SQLITE_NOMEM;
		c->rows = rows;
		c->rows_cap = n;
	}
	for (size_t i = 0; i < n; i++)
		c->rows[i] = (uint32_t)i;
	count = n;
	for (size_t k = 0; k < c->condition_count; k++) {
		const struct query_condition *condition = &c->conditions[k];
		const int64_t *values = c->tested.columns[condition->column].ints;
		size_t kept = 0;

		for (size_t i = 0; i < count; i++) {
			int64_t v = values[c->rows[i]];

			c->rows[kept] = c->rows[i];
			kept += v >= condition->lo && v <= condition->hi;
		}
		count = kept;
	}
	c->count = count;
	return SQLITE_OK;
}

static int load(struct query_cursor *c, size_t block, const int *columns, size_t count, struct store_batch *into)
{
	struct sonde_err err;
	int rc = store_block_load(c->t->table, block, columns, count, into, &err);

	return rc == -ENOMEM             ? SQLITE_NOMEM
			: rc == -EBADMSG ? SQLITE_NOTFOUND
			: rc < 0         ? query_vtab_fail(c->base.pVtab, c->t->schema->name, err.text)
					 : SQLITE_OK;
}

/* Load a block and select its rows; SQLITE_NOTFOUND: it is damaged, which is counted as loss. */
static int take_block(struct query_cursor *c, size_t block)
{
	int columns[QUERY_CONDITIONS_MAX];
	int rc;

	c->at = 0;
	c->is_all = c->condition_count == 0;
	if (!c->is_all) {
		for (size_t i = 0; i < c->condition_count; i++)
			columns[i] = c->conditions[i].column;
		rc = load(c, block, columns, c->condition_count, &c->tested);
		if (rc == SQLITE_OK)
			rc = select_rows(c);
		if (rc != SQLITE_OK || !c->count)
			return rc;
	}
	rc = load(c, block, c->needs, c->need_count, &c->batch);
	if (rc == SQLITE_OK && c->is_all)
		c->count = c->batch.rows;
	return rc;
}

static int next_block(struct query_cursor *c)
{
	c->count = c->at = 0;
	while (c->block < store_table_blocks(c->t->table)) {
		size_t block = c->block++;
		int rc = query_is_late(c->t->query)     ? SQLITE_INTERRUPT
				: zone_passes(c, block) ? take_block(c, block)
							: SQLITE_NOTFOUND;

		if (rc == SQLITE_NOTFOUND)
			continue;
		if (rc != SQLITE_OK || c->count)
			return rc;
	}
	c->is_over = true;
	return SQLITE_OK;
}

/* Lookups. */

static int load_entry(struct query_cursor *c)
{
	size_t blocks = store_table_blocks(c->t->table), block;
	int rc = SQLITE_OK;

	if (!c->batches) {
		c->batches = calloc(blocks, sizeof(*c->batches));
		c->is_loaded = calloc(blocks, sizeof(*c->is_loaded));
		if (!c->batches || !c->is_loaded)
			return SQLITE_NOMEM;
	}
	c->is_over = c->entry >= c->entry_end;
	if (c->is_over)
		return SQLITE_OK;
	block = c->index->entries[c->entry].block;
	if (!c->is_loaded[block])
		rc = load(c, block, c->needs, c->need_count, &c->batches[block]);
	c->is_loaded[block] = rc == SQLITE_OK;
	return rc == SQLITE_NOTFOUND ? query_vtab_fail(c->base.pVtab, c->t->schema->name, "a block is damaged") : rc;
}

/* Go to the first row by the index for the first constraint, an equality on an INT column. */
static int look_up(struct query_cursor *c)
{
	const struct query_condition *k = &c->conditions[0];

	c->index = query_index_of(c->t, k->column);
	if (!c->index)
		return SQLITE_NOMEM;
	c->entry = c->entry_end = 0;
	if (k->lo == k->hi)
		c->entry_end = query_index_find(c->index, k->lo, &c->entry);
	return load_entry(c);
}

static int next(sqlite3_vtab_cursor *base)
{
	struct query_cursor *c = (struct query_cursor *)base;

	if (c->index) {
		c->entry++;
		return load_entry(c);
	}
	return ++c->at < c->count ? SQLITE_OK : next_block(c);
}

/* The batch and row number of the current row. */
static const struct store_batch *place(const struct query_cursor *c, size_t *row)
{
	if (c->index) {
		*row = c->index->entries[c->entry].row;
		return &c->batches[c->index->entries[c->entry].block];
	}
	*row = c->is_all ? c->at : c->rows[c->at];
	return &c->batch;
}

/* The methods of cursors. */

static int open_cursor(sqlite3_vtab *v, sqlite3_vtab_cursor **out)
{
	return query_vtab_open(&(struct query_cursor){ .t = query_vtab_what(v) }, sizeof(struct query_cursor), out);
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
	release_cursor((struct query_cursor *)base);
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
	need_mask(c, mask);
	for (int i = 0; i < argc && is_possible; i++) {
		int column = (int)strtol(at, &at, 10), op = (int)strtol(at, &at, 10);

		is_possible = add_condition(c, column, op, argv[i]);
		is_first_usable |= i == 0 && c->condition_count && c->conditions[0].lo == c->conditions[0].hi;
	}
	if (!is_possible) {
		c->is_over = true;
		return SQLITE_OK;
	}
	return mode == QUERY_LOOKUP && is_first_usable ? look_up(c) : next_block(c);
}

static int eof(sqlite3_vtab_cursor *base)
{
	return ((struct query_cursor *)base)->is_over;
}

static int column(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int i)
{
	struct query_cursor *c = (struct query_cursor *)base;
	size_t row;
	const struct store_batch *b = place(c, &row);

	query_column_result(ctx, c->t, &c->t->columns[i], b, row);
	return SQLITE_OK;
}

static int rowid(sqlite3_vtab_cursor *base, sqlite3_int64 *id)
{
	size_t row;
	const struct store_batch *b = place((struct query_cursor *)base, &row);

	*id = (sqlite3_int64)b->first_row + (sqlite3_int64)row;
	return SQLITE_OK;
}

const sqlite3_module query_table_module = {
	.xCreate = connect,
	.xConnect = connect,
	.xBestIndex = best_index,
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
