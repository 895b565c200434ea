/*
 * groups: the groups of a query while rows come in: keys to slots, slots to
 * states. Small non-negative keys, which ids are, index an array; others are
 * hashed. One worker's. Private to engine/.
 */
#ifndef SONDE_ENGINE_GROUP_BY_H
#define SONDE_ENGINE_GROUP_BY_H

#include "engine/aggregate.h"

#include <stdbool.h>

struct group_table {
	const struct engine_query *query;
	size_t count; /* slots in use; slot 0 is nobody's */
	bool is_over, has_no_quantiles;
	/* private */
	size_t cap;
	int64_t *keys[ENGINE_KEYS_MAX];
	void *states[ENGINE_AGGREGATES_MAX];
	uint32_t *dense;
	size_t dense_cap;
	uint32_t *hashed;
	size_t hashed_cap;
};

/* A query over no rows; -ENOMEM. */
int group_table_init(struct group_table *t, const struct engine_query *query);
void group_table_release(struct group_table *t);
/* The slot of each of n rows with these keys (the second may be NULL), made where new. -ENOMEM. */
int group_table_assign(struct group_table *t, const int64_t *const keys[ENGINE_KEYS_MAX], size_t n, uint32_t *slots);
/* Slots of rows for which filter is 0 or null become 0. */
void group_filter(const int64_t *filter, size_t n, uint32_t *slots);
/* Aggregate a takes no more: it was given up. */
bool group_table_skips(const struct group_table *t, unsigned a);

/* All of `from` goes to t. */
int group_table_merge(struct group_table *t, struct group_table *from, struct aggregate_memory *memory);
/* Hand everything over, in the order of the keys; t is empty after it. */
int group_table_finish(struct group_table *t, struct engine_groups *groups);
void groups_release(struct engine_groups *groups);

int groups_save(const struct engine_groups *groups, struct buf *out);
/* Merge what was saved; u->is_bad when it is of another query. */
int group_table_load(struct group_table *t, struct unpack *u, struct aggregate_memory *memory);

#endif
