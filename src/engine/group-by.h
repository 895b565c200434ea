/*
 * group-by: the groups of a query during a scan: keys to slots, slots to states. Small non-negative keys, such as
 * ids, index an array; others are hashed. Each worker has one. Private to engine/.
 */
#ifndef SONDE_ENGINE_GROUP_BY_H
#define SONDE_ENGINE_GROUP_BY_H

#include "engine/aggregate.h"

#include <stdbool.h>

struct group_table {
	const struct engine_query *query;
	size_t count; /* slots in use; slot 0 belongs to no group */
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

/* Start with no rows; 0 or -ENOMEM. */
int group_table_init(struct group_table *t, const struct engine_query *query);
void group_table_release(struct group_table *t);
/* Find or create the slot of each of n rows with these keys (the second may be NULL). 0 or -ENOMEM. */
int group_table_assign(struct group_table *t, const int64_t *const keys[ENGINE_KEYS_MAX], size_t n, uint32_t *slots);
/* Set the slots of rows for which filter is 0 or null to 0. */
void group_filter(const int64_t *filter, size_t n, uint32_t *slots);
/* True if aggregate a was given up and accepts no more rows. */
bool group_table_skips(const struct group_table *t, unsigned a);

/* Merge all of `from` into t. */
int group_table_merge(struct group_table *t, struct group_table *from, struct aggregate_memory *memory);
/* Move the groups to `groups`, sorted by key; t is empty afterwards. */
int group_table_finish(struct group_table *t, struct engine_groups *groups);
void groups_release(struct engine_groups *groups);

int groups_save(const struct engine_groups *groups, struct buf *out);
/* Merge saved groups; sets u->is_bad if they belong to another query. */
int group_table_load(struct group_table *t, struct unpack *u, struct aggregate_memory *memory);

#endif
