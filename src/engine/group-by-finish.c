/* Sort the groups of a query, save them and load them. */
#include "engine/group-by.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct place {
	int64_t first, second;
	size_t slot;
};

static int by_keys(const void *a, const void *b)
{
	const struct place *left = a, *right = b;

	if (left->first != right->first)
		return left->first < right->first ? -1 : 1;
	return (left->second > right->second) - (left->second < right->second);
}

static struct place *sorted_places(const struct group_table *t)
{
	unsigned keys = t->query->key_count;
	struct place *places = calloc(t->count, sizeof(*places));

	if (!places)
		return NULL;
	for (size_t i = 1; i < t->count; i++)
		places[i - 1] = (struct place){ .first = keys > 0 ? t->keys[0][i] : 0,
			.second = keys > 1 ? t->keys[1][i] : 0,
			.slot = i };
	if (t->count > 2)
		qsort(places, t->count - 1, sizeof(*places), by_keys);
	return places;
}

/* A copy of t->count - 1 elements in the order of places; the caller frees it. */
static void *ordered(const void *from, size_t bytes, const struct place *places, size_t count)
{
	char *to = calloc(count + 1, bytes);

	for (size_t i = 0; to && i < count; i++)
		memcpy(to + i * bytes, (const char *)from + places[i].slot * bytes, bytes);
	return to;
}

static int hand_over(struct group_table *t, struct engine_groups *groups, const struct place *places)
{
	bool is_failed = false;

	for (unsigned k = 0; k < t->query->key_count; k++) {
		groups->keys[k] = ordered(t->keys[k], sizeof(int64_t), places, groups->count);
		is_failed |= !groups->keys[k];
	}
	for (unsigned a = 0; a < t->query->aggregate_count; a++) {
		groups->states[a] = ordered(t->states[a], aggregate_ops[t->query->aggregates[a].op].bytes, places,
				groups->count);
		is_failed |= !groups->states[a];
	}
	return is_failed ? -ENOMEM : 0;
}

int group_table_finish(struct group_table *t, struct engine_groups *groups)
{
	struct place *places = sorted_places(t);
	int rc;

	if (!places)
		return -ENOMEM;
	*groups = (struct engine_groups){ .count = t->is_over ? 0 : t->count - 1,
		.is_over = t->is_over,
		.has_no_quantiles = t->has_no_quantiles,
		.query = t->query };
	rc = hand_over(t, groups, places);
	free(places);
	if (rc < 0 || t->is_over) {
		for (unsigned i = 0; i < ENGINE_KEYS_MAX; i++)
			free(groups->keys[i]);
		for (unsigned a = 0; a < ENGINE_AGGREGATES_MAX; a++)
			free(groups->states[a]); /* only the array: the table still owns what the states point to */
		memset(groups->keys, 0, sizeof(groups->keys));
		memset(groups->states, 0, sizeof(groups->states));
		groups->count = 0;
		return rc;
	}
	t->count = 1; /* the groups now own what the states point to */
	group_table_release(t);
	return 0;
}

void groups_release(struct engine_groups *groups)
{
	for (unsigned a = 0; groups->query && a < groups->query->aggregate_count; a++) {
		const struct aggregate_ops *ops = &aggregate_ops[groups->query->aggregates[a].op];

		for (size_t i = 0; ops->release && i < groups->count; i++)
			ops->release((char *)groups->states[a] + i * ops->bytes);
		free(groups->states[a]);
	}
	for (unsigned k = 0; k < ENGINE_KEYS_MAX; k++)
		free(groups->keys[k]);
	*groups = (struct engine_groups){ .count = 0 };
}

/* Saving and loading. */

static int save_group(const struct engine_groups *g, size_t i, struct buf *out)
{
	int rc = 0;

	for (unsigned k = 0; k < g->query->key_count; k++)
		pack_int(out, g->keys[k][i]);
	for (unsigned a = 0; a < g->query->aggregate_count && rc == 0; a++) {
		const struct aggregate_ops *ops = &aggregate_ops[g->query->aggregates[a].op];

		if (!g->has_no_quantiles || g->query->aggregates[a].op != ENGINE_QUANTILES)
			rc = ops->save(out, (const char *)g->states[a] + i * ops->bytes);
	}
	return rc;
}

int groups_save(const struct engine_groups *g, struct buf *out)
{
	int rc = 0;

	pack_text(out, g->query->name);
	pack_uint(out, g->query->key_count);
	pack_uint(out, g->query->aggregate_count);
	for (unsigned a = 0; a < g->query->aggregate_count; a++)
		pack_uint(out, g->query->aggregates[a].op);
	pack_uint(out, g->is_over);
	pack_uint(out, g->has_no_quantiles);
	pack_uint(out, g->count);
	for (size_t i = 0; i < g->count && rc == 0; i++)
		rc = save_group(g, i, out);
	return rc < 0 ? rc : buf_error(out);
}

/* Check that it was saved by the same query. */
static void check_head(const struct engine_query *q, struct unpack *u)
{
	u->is_bad |= !unpack_is_text(u, q->name);
	u->is_bad |= unpack_uint(u) != q->key_count;
	u->is_bad |= unpack_uint(u) != q->aggregate_count;
	for (unsigned a = 0; a < q->aggregate_count; a++)
		u->is_bad |= unpack_uint(u) != q->aggregates[a].op;
}

/* Load a group into a table with one group, to be merged. */
static int load_group(struct group_table *one, struct unpack *u, struct aggregate_memory *memory)
{
	const struct engine_query *q = one->query;
	int64_t keys[ENGINE_KEYS_MAX] = { 0 };
	const int64_t *columns[ENGINE_KEYS_MAX] = { &keys[0], &keys[1] };
	uint32_t slot = 0;
	int rc;

	for (unsigned k = 0; k < q->key_count; k++)
		keys[k] = unpack_int(u);
	rc = group_table_assign(one, columns, 1, &slot);
	for (unsigned a = 0; a < q->aggregate_count && rc == 0 && !u->is_bad; a++) {
		const struct aggregate_ops *ops = &aggregate_ops[q->aggregates[a].op];

		if (!group_table_skips(one, a))
			rc = ops->load(u, (char *)one->states[a] + slot * ops->bytes, memory);
	}
	return rc;
}

int group_table_load(struct group_table *t, struct unpack *u, struct aggregate_memory *memory)
{
	struct group_table part;
	uint64_t count;
	int rc = group_table_init(&part, t->query);

	check_head(t->query, u);
	part.is_over = unpack_uint(u);
	part.has_no_quantiles = unpack_uint(u);
	count = unpack_uint(u);
	u->is_bad |= count > ENGINE_GROUPS_MAX;
	for (uint64_t i = 0; i < count && rc == 0 && !u->is_bad; i++)
		rc = load_group(&part, u, memory);
	if (rc == 0 && !u->is_bad)
		rc = group_table_merge(t, &part, memory);
	group_table_release(&part);
	return rc;
}
