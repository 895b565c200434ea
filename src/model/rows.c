/*
 * Rows in time order; rows.h describes the method.
 *
 * `last` is the key up to which all rows have been returned. While `is_cut`, rows after `cut` have been dropped from
 * the pool; their blocks are read again once the others have been returned.
 */
#include "model/rows.h"

#include "base/buf.h"
#include "store/table-read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * Rows copied out of batches, sorted by a key. Private to model/.
 *
 * A key holds the slot of its row. keys[0..count) are in use, the slots of the others are free: dropping a row drops
 * its key. Texts are stored consecutively in a buffer that is compacted after many have been dropped.
 */

struct pool_key {
	int64_t time;
	int64_t then;   /* second sort key */
	uint64_t order; /* third sort key: the position in the file */
	uint64_t slot;
};

struct pool {
	struct pool_key *keys;
	size_t count;
	/* private */
	size_t cap, made; /* maximum and current number of slots */
	size_t sorted;    /* keys[0..sorted) are in order */
	struct pool_key *spare;
	int64_t *slots;
	size_t slot_words; /* one word per column, and a length for each text */
	size_t text_bytes_max;
	const struct store_schema *schema;
	struct buf texts;
	struct store_text text[STORE_COLUMNS_MAX]; /* of the current row */
	int64_t shown[STORE_COLUMNS_MAX];
};

#define SLOTS_MIN 1024u

/* Memory is allocated as rows are added, up to `cap` of them. */
static void pool_init(struct pool *p, const struct store_schema *schema, size_t cap, size_t text_bytes_max)
{
	*p = (struct pool){ .schema = schema,
		.cap = cap,
		.slot_words = schema->count,
		.text_bytes_max = text_bytes_max };
	for (unsigned c = 0; c < schema->count; c++)
		p->slot_words += schema->columns[c].kind == STORE_TEXT;
	buf_init(&p->texts, 0);
}

static bool pool_is_full(const struct pool *p)
{
	return p->count == p->cap || (p->count > 1 && p->texts.len > p->text_bytes_max);
}

static int grow(struct pool *p)
{
	size_t made = p->made ? 2 * p->made : SLOTS_MIN;
	struct pool_key *keys, *spare;
	int64_t *slots;

	made = made < p->cap ? made : p->cap;
	if ((keys = reallocarray(p->keys, made, sizeof(*keys))))
		p->keys = keys;
	if ((spare = reallocarray(p->spare, made, sizeof(*spare))))
		p->spare = spare;
	if ((slots = reallocarray(p->slots, made, p->slot_words * sizeof(*slots))))
		p->slots = slots;
	if (!keys || !spare || !slots)
		return -ENOMEM;
	for (; p->made < made; p->made++)
		p->keys[p->made].slot = p->made;
	return 0;
}

/* The word of a text column is the text's offset in the buffer, STORE_NULL for null; the lengths come last. */
static void copy_row(struct pool *p, int64_t *slot, const struct store_batch *batch, size_t i)
{
	int64_t *length = slot + p->schema->count;

	for (unsigned c = 0; c < p->schema->count; c++) {
		const struct store_column *column = &batch->columns[c];

		if (column->ints) {
			slot[c] = column->ints[i];
		} else if (column->reals) {
			memcpy(&slot[c], &column->reals[i], sizeof(*slot));
		} else {
			const struct store_text *text = &column->texts[i];

			slot[c] = text->data ? (int64_t)p->texts.len : STORE_NULL;
			*length++ = (int64_t)text->bytes;
			buf_add(&p->texts, text->data, text->data ? text->bytes : 0);
		}
	}
}

/* Copy row i; the pool assigns the key's slot. 0 or -ENOMEM. */
static int pool_add(struct pool *p, const struct pool_key *key, const struct store_batch *batch, size_t i)
{
	uint64_t slot;

	if (p->count == p->made && grow(p) < 0)
		return -ENOMEM;
	slot = p->keys[p->count].slot;
	copy_row(p, p->slots + slot * p->slot_words, batch, i);
	p->keys[p->count] = *key;
	p->keys[p->count++].slot = slot;
	return buf_error(&p->texts);
}

static int pool_compare(const struct pool_key *a, const struct pool_key *b)
{
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	if (a->then != b->then)
		return a->then < b->then ? -1 : 1;
	return (a->order > b->order) - (a->order < b->order);
}

/* End of the sorted sequence that starts at `from`. */
static size_t stretch(const struct pool_key *keys, size_t from, size_t count)
{
	size_t end = from + 1;

	while (end < count && pool_compare(&keys[end - 1], &keys[end]) <= 0)
		end++;
	return end < count ? end : count;
}

static void merge(const struct pool_key *keys, size_t from, size_t middle, size_t end, struct pool_key *out)
{
	size_t left = from, right = middle;

	for (size_t i = from; i < end; i++) {
		bool is_left = left < middle && (right == end || pool_compare(&keys[left], &keys[right]) <= 0);

		out[i] = keys[is_left ? left++ : right++];
	}
}

/* Natural merge sort: merge neighbouring sorted sequences until one is left; the input has few and long ones. */
static void sort_from(struct pool *p, size_t from)
{
	while (from < p->count && stretch(p->keys, from, p->count) < p->count) {
		for (size_t at = from, end; at < p->count; at = end) {
			size_t middle = stretch(p->keys, at, p->count);

			end = middle < p->count ? stretch(p->keys, middle, p->count) : middle;
			merge(p->keys, at, middle, end, p->spare);
		}
		memcpy(p->keys + from, p->spare + from, (p->count - from) * sizeof(*p->keys));
	}
}

/* The first of keys[0..count) that is after key. */
static size_t place_of(const struct pool_key *keys, size_t count, const struct pool_key *key)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (pool_compare(&keys[middle], key) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void pool_sort(struct pool *p)
{
	if (p->sorted == p->count)
		return;
	sort_from(p, p->sorted);
	size_t from = place_of(p->keys, p->sorted, &p->keys[p->sorted]);
	if (from < p->sorted) {
		merge(p->keys, from, p->sorted, p->count, p->spare);
		memcpy(p->keys + from, p->spare + from, (p->count - from) * sizeof(*p->keys));
	}
	p->sorted = p->count;
}

/* Number of keys before key; the pool must be sorted. Keys are distinct. */
static size_t pool_count_before(const struct pool *p, const struct pool_key *key)
{
	size_t n = place_of(p->keys, p->count, key);

	return n > 0 && pool_compare(&p->keys[n - 1], key) == 0 ? n - 1 : n;
}

/* Texts of dropped rows stay in the buffer; compact it once they are more than half. */
static int compact(struct pool *p)
{
	struct buf texts;

	if (p->texts.len <= p->text_bytes_max / 2)
		return 0;
	buf_init(&texts, 0);
	for (size_t k = 0; k < p->count; k++) {
		int64_t *slot = p->slots + p->keys[k].slot * p->slot_words, *length = slot + p->schema->count;

		for (unsigned c = 0; c < p->schema->count; c++) {
			int64_t at = slot[c];

			if (p->schema->columns[c].kind != STORE_TEXT)
				continue;
			if (at != STORE_NULL) {
				slot[c] = (int64_t)texts.len;
				buf_add(&texts, p->texts.data + at, (size_t)*length);
			}
			length++;
		}
	}
	buf_release(&p->texts);
	p->texts = texts;
	return buf_error(&texts);
}

/* The row struct of keys[i]; valid until the next call of any function here. */
static const void *pool_row(struct pool *p, size_t i)
{
	const int64_t *slot = p->slots + p->keys[i].slot * p->slot_words, *length = slot + p->schema->count;

	memcpy(p->shown, slot, p->schema->count * sizeof(*slot));
	for (unsigned c = 0; c < p->schema->count; c++) {
		const struct store_text *text = slot[c] == STORE_NULL ? NULL : &p->text[c];

		if (p->schema->columns[c].kind != STORE_TEXT)
			continue;
		if (text)
			p->text[c] = (struct store_text){ .data = p->texts.data + slot[c], .bytes = (size_t)*length };
		memcpy(&p->shown[c], &text, sizeof(text));
		length++;
	}
	return p->shown;
}

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
		/* Bounds from the zone map. A block without times comes first: its rows have the time STORE_NULL. */
		struct rows_block *b = &r->blocks[r->block_count];
		const struct store_block_info *info = store_block_info(r->table, i);
		int64_t min_ns = r->time_col < 0 ? STORE_NULL : info->time_min_ns;
		int64_t max_ns = info->time_max_ns > min_ns && r->time_col >= 0 ? info->time_max_ns : min_ns;
		b->number = i;
		b->first = (struct pool_key){ .time = min_ns, .order = (uint64_t)i << 32 };
		b->last = (struct pool_key){ .time = max_ns, .order = (uint64_t)i << 32 | UINT32_MAX };
		if (r->opts.is_longest_first) {
			b->first.then = INT64_MIN;
			b->last.then = INT64_MAX;
		}
		r->block_count += in_range(r, b);
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
	struct pool *p = &r->pool;
	free(p->keys);
	free(p->spare);
	free(p->slots);
	buf_release(&p->texts);
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

static int read_block(struct model_rows *r, const struct rows_block *b, struct sonde_err *err)
{
	int rc = store_block_load(r->table, b->number, NULL, 0, &r->batch, err);

	if (rc == -EBADMSG)
		return 0; /* counted as loss */
	for (size_t i = 0; rc == 0 && i < r->batch.rows; i++) {
		struct pool_key key = key_of(r, b, i);

		if (!is_wanted(r, &key, i))
			continue;
		while (rc == 0 && pool_is_full(&r->pool)) {
			/* The pool is full: keep the earlier half. */
			size_t half = r->pool.count / 2;
			pool_sort(&r->pool);
			r->cut = r->pool.keys[half - 1];
			r->is_cut = true;
			r->pool.count = r->pool.sorted = half;
			rc = compact(&r->pool);
		}
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
	/* The slots of the rows that go are kept behind the others, for new rows. */
	struct pool *p = &r->pool;
	size_t n = r->ready;
	struct pool_key *keys = p->keys;
	if (n == 0)
		return 0;
	memcpy(p->spare, keys + n, (p->count - n) * sizeof(*keys));
	memcpy(p->spare + p->count - n, keys, n * sizeof(*keys));
	memcpy(p->spare + p->count, keys + p->count, (p->made - p->count) * sizeof(*keys));
	p->keys = p->spare;
	p->spare = keys;
	p->count = p->sorted -= n;
	return compact(p);
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
