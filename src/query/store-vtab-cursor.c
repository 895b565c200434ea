/* Scans and lookups: the rows of a store table that match the constraints. */
#include "query/store-vtab.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static void release_batches(struct query_cursor *c)
{
	for (size_t i = 0; c->batches && i < store_table_blocks(c->t->table); i++)
		store_batch_release(&c->batches[i]);
	free(c->batches);
	free(c->is_loaded);
	c->batches = NULL;
	c->is_loaded = NULL;
}

void query_cursor_release(struct query_cursor *c)
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

void query_cursor_need(struct query_cursor *c, unsigned long long mask)
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

bool query_cursor_add(struct query_cursor *c, int column, int op, sqlite3_value *value)
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

int query_cursor_next_block(struct query_cursor *c)
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

int query_cursor_look_up(struct query_cursor *c)
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

int query_cursor_next(struct query_cursor *c)
{
	if (c->index) {
		c->entry++;
		return load_entry(c);
	}
	return ++c->at < c->count ? SQLITE_OK : query_cursor_next_block(c);
}

const struct store_batch *query_cursor_place(const struct query_cursor *c, size_t *row)
{
	if (c->index) {
		*row = c->index->entries[c->entry].row;
		return &c->batches[c->index->entries[c->entry].block];
	}
	*row = c->is_all ? c->at : c->rows[c->at];
	return &c->batch;
}
