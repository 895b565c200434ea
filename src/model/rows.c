/*
 * Rows in time order; rows.h describes the method.
 *
 * `last` is the key up to which all rows have been returned. While `is_cut`, rows after `cut` have been dropped from
 * the pool; their blocks are read again once the others have been returned.
 */
#include "model/rows.h"

#include "model/pool.h"

#include <errno.h>
#include <stdlib.h>

#define GATHER_ROWS ((size_t)1 << 17) /* to read before checking which rows can be returned */

struct rows_block {
	size_t number;
	struct pool_key first, last; /* bounds of the keys of its rows */
};

struct model_rows {
	struct model_rows_opts opts;
	struct store_table *table;
	int time_col, dur_col;     /* -1: not in the table */
	struct rows_block *blocks; /* in the order of `first` */
	size_t block_count;
	size_t next; /* block to read */
	struct pool pool;
	struct store_batch batch;
	struct pool_key last, cut;
	bool has_last, is_cut;
	size_t gather;
	size_t at, ready; /* keys[at..ready) of the pool can be returned */
};

static int find_column(const struct store_schema *s, enum store_semantic semantic)
{
	for (unsigned c = 0; c < s->count; c++)
		if (s->columns[c].semantic == semantic && s->columns[c].kind == STORE_INT)
			return (int)c;
	return -1;
}

/* Bounds from the zone map. A block without times comes first: its rows have the time STORE_NULL. */
static void bound(const struct model_rows *r, size_t number, struct rows_block *b)
{
	const struct store_block_info *info = store_block_info(r->table, number);
	int64_t min_ns = r->time_col < 0 ? STORE_NULL : info->time_min_ns;
	int64_t max_ns = info->time_max_ns > min_ns && r->time_col >= 0 ? info->time_max_ns : min_ns;

	b->number = number;
	b->first = (struct pool_key){ .time = min_ns, .order = (uint64_t)number << 32 };
	b->last = (struct pool_key){ .time = max_ns, .order = (uint64_t)number << 32 | UINT32_MAX };
	if (r->opts.is_longest_first) {
		b->first.then = INT64_MIN;
		b->last.then = INT64_MAX;
	}
}

static bool in_range(const struct model_rows *r, const struct rows_block *b)
{
	return !r->opts.has_range || (b->last.time >= r->opts.from_ns && b->first.time < r->opts.to_ns);
}

static int by_first(const void *a, const void *b)
{
	return pool_compare(&((const struct rows_block *)a)->first, &((const struct rows_block *)b)->first);
}

static int list_blocks(struct model_rows *r)
{
	size_t count = store_table_blocks(r->table);

	r->blocks = calloc(count + 1, sizeof(*r->blocks));
	if (!r->blocks)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		bound(r, i, &r->blocks[r->block_count]);
		r->block_count += in_range(r, &r->blocks[r->block_count]);
	}
	qsort(r->blocks, r->block_count, sizeof(*r->blocks), by_first);
	return 0;
}

int model_rows_open(struct model_rows **out, struct store_table *t, const struct model_rows_opts *opts,
		struct sonde_err *err)
{
	struct model_rows *r = calloc(1, sizeof(*r));
	static const struct store_schema nothing = { .name = "" };
	const struct store_schema *schema = t ? store_table_schema(t) : &nothing;

	if (!r) {
		err_sys(err, ENOMEM, "cannot read the table '%s'", schema->name);
		return -ENOMEM;
	}
	r->opts = *opts;
	r->table = t;
	r->time_col = find_column(schema, STORE_TIME);
	r->dur_col = find_column(schema, STORE_DURATION);
	pool_init(&r->pool, schema, opts->pool_rows > 1 ? opts->pool_rows : MODEL_POOL_ROWS, MODEL_POOL_TEXT_BYTES);
	r->gather = r->pool.cap / 2 < GATHER_ROWS ? r->pool.cap / 2 : GATHER_ROWS;
	if (t && list_blocks(r) < 0) {
		model_rows_free(r);
		err_sys(err, ENOMEM, "cannot read the table '%s'", schema->name);
		return -ENOMEM;
	}
	*out = r;
	return 0;
}

void model_rows_free(struct model_rows *r)
{
	if (!r)
		return;
	pool_release(&r->pool);
	store_batch_release(&r->batch);
	free(r->blocks);
	free(r);
}

/* Clamp a row's key to its block's bounds, in case the zone map is wrong. */
static struct pool_key key_of(const struct model_rows *r, const struct rows_block *b, size_t i)
{
	int64_t ns = r->time_col < 0 ? STORE_NULL : r->batch.columns[r->time_col].ints[i];
	struct pool_key key = { .order = b->first.order | i };

	key.time = ns < b->first.time ? b->first.time : ns > b->last.time ? b->last.time : ns;
	if (r->opts.is_longest_first && r->dur_col >= 0) {
		int64_t dur_ns = r->batch.columns[r->dur_col].ints[i];

		key.then = dur_ns == STORE_NULL ? 0 : -dur_ns;
	}
	return key;
}

static bool is_wanted(const struct model_rows *r, const struct pool_key *key, size_t i)
{
	if (r->opts.has_range && (key->time < r->opts.from_ns || key->time >= r->opts.to_ns))
		return false;
	if ((r->has_last && pool_compare(key, &r->last) <= 0) || (r->is_cut && pool_compare(key, &r->cut) > 0))
		return false;
	return !r->opts.keep || r->opts.keep(r->opts.arg, &r->batch, i);
}

/* The pool is full: keep the earlier half. */
static int cut_pool(struct model_rows *r)
{
	size_t half = r->pool.count / 2;

	pool_sort(&r->pool);
	r->cut = r->pool.keys[half - 1];
	r->is_cut = true;
	return pool_drop_last(&r->pool, half);
}

static int read_block(struct model_rows *r, const struct rows_block *b, struct sonde_err *err)
{
	int rc = store_block_load(r->table, b->number, NULL, 0, &r->batch, err);

	if (rc == -EBADMSG)
		return 0; /* counted as loss */
	for (size_t i = 0; rc == 0 && i < r->batch.rows; i++) {
		struct pool_key key = key_of(r, b, i);

		if (!is_wanted(r, &key, i))
			continue;
		while (rc == 0 && pool_is_full(&r->pool))
			rc = cut_pool(r);
		if (rc == 0 && !(r->is_cut && pool_compare(&key, &r->cut) > 0))
			rc = pool_add(&r->pool, &key, &r->batch, i);
	}
	return rc == -ENOMEM ? err_sys(err, ENOMEM, "cannot sort the table '%s'", store_table_schema(r->table)->name)
			     : rc;
}

/* Drop the returned rows from the pool. After a cut, read the blocks again for the rows after it. */
static int start_over(struct model_rows *r)
{
	if (r->ready) {
		r->last = r->pool.keys[r->ready - 1];
		r->has_last = true;
	}
	if (r->is_cut) {
		r->last = r->cut;
		r->is_cut = false;
		r->next = 0;
	}
	r->at = 0;
	return pool_drop_first(&r->pool, r->ready);
}

/*
 * Read until rows can be returned. Skip blocks returned completely; stop at the first block that starts after the
 * cut.
 */
static int fill(struct model_rows *r, struct sonde_err *err)
{
	int rc = start_over(r);

	r->ready = 0;
	while (rc == 0 && r->next < r->block_count) {
		const struct rows_block *b = &r->blocks[r->next];

		if (r->is_cut ? pool_compare(&b->first, &r->cut) > 0 : r->pool.count >= r->gather) {
			pool_sort(&r->pool);
			r->ready = r->is_cut ? r->pool.count : pool_count_before(&r->pool, &b->first);
			if (r->ready)
				return 0;
		}
		if (!r->has_last || pool_compare(&b->last, &r->last) > 0)
			rc = read_block(r, b, err);
		r->next++;
	}
	pool_sort(&r->pool);
	r->ready = r->pool.count;
	return rc;
}

int model_rows_next(struct model_rows *r, const void **row, struct sonde_err *err)
{
	int rc = r->at < r->ready ? 0 : fill(r, err);

	if (rc < 0)
		return rc;
	*row = r->at < r->ready ? pool_row(&r->pool, r->at++) : NULL;
	return 0;
}

static int count_block(struct model_rows *r, const struct rows_block *b, uint64_t *count, struct sonde_err *err)
{
	int rc = store_block_load(r->table, b->number, NULL, 0, &r->batch, err);

	for (size_t i = 0; rc == 0 && i < r->batch.rows; i++) {
		struct pool_key key = key_of(r, b, i);

		*count += is_wanted(r, &key, i);
	}
	return rc == -EBADMSG ? 0 : rc;
}

int model_rows_count(struct store_table *t, const struct model_rows_opts *opts, uint64_t *count, struct sonde_err *err)
{
	struct model_rows *r = NULL;
	int rc = model_rows_open(&r, t, opts, err);

	*count = 0;
	if (rc < 0)
		return rc;
	for (size_t i = 0; rc == 0 && i < r->block_count; i++)
		rc = count_block(r, &r->blocks[i], count, err);
	model_rows_free(r);
	return rc;
}
