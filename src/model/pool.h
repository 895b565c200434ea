/*
 * pool: rows copied out of batches, sorted by a key. Private to model/.
 *
 * A key holds the slot of its row. keys[0..count) are in use, the slots of the others are free: dropping a row drops
 * its key. Texts are stored consecutively in a buffer that is compacted after many have been dropped.
 */
#ifndef SONDE_MODEL_POOL_H
#define SONDE_MODEL_POOL_H

#include "base/buf.h"
#include "store/table-read.h"

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

int pool_compare(const struct pool_key *a, const struct pool_key *b);

/* Memory is allocated as rows are added, up to `cap` of them. */
void pool_init(struct pool *p, const struct store_schema *schema, size_t cap, size_t text_bytes_max);
void pool_release(struct pool *p);
bool pool_is_full(const struct pool *p);
/* Copy row i; the pool assigns the key's slot. 0 or -ENOMEM. */
int pool_add(struct pool *p, const struct pool_key *key, const struct store_batch *batch, size_t i);
void pool_sort(struct pool *p);
/* Number of keys before key; the pool must be sorted. Keys are distinct. */
size_t pool_count_before(const struct pool *p, const struct pool_key *key);
/* Drop keys[from..count), or the first n. Both need and keep the sort order. */
int pool_drop_last(struct pool *p, size_t from);
int pool_drop_first(struct pool *p, size_t n);
/* The row struct of keys[i]; valid until the next call of any function here. */
const void *pool_row(struct pool *p, size_t i);

#endif
