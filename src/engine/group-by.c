#include "engine/group-by.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DENSE_MAX ((size_t)1 << 22)
#define SECOND_MAX 64u /* second keys below this are indexed directly too */

static size_t state_bytes(const struct group_table *t, unsigned a)
{
	return aggregate_ops[t->query->aggregates[a].op].bytes;
}

static void *grown(void *old, size_t old_count, size_t new_count, size_t bytes)
{
	char *at = reallocarray(old, new_count, bytes);

	if (at)
		memset(at + old_count * bytes, 0, (new_count - old_count) * bytes);
	return at;
}

static int grow(struct group_table *t)
{
	size_t cap = t->cap ? 2 * t->cap : 64;
	void *at;

	for (unsigned k = 0; k < t->query->key_count; k++) {
		at = grown(t->keys[k], t->cap, cap, sizeof(int64_t));
		if (!at)
			return -ENOMEM;
		t->keys[k] = at;
	}
	for (unsigned a = 0; a < t->query->aggregate_count; a++) {
		at = grown(t->states[a], t->cap, cap, state_bytes(t, a));
		if (!at)
			return -ENOMEM;
		t->states[a] = at;
	}
	t->cap = cap;
	return 0;
}

int group_table_init(struct group_table *t, const struct engine_query *query)
{
	*t = (struct group_table){ .query = query, .count = 1 };
	return grow(t);
}

static void release_states(const struct engine_query *query, void **states, size_t count)
{
	for (unsigned a = 0; a < query->aggregate_count; a++) {
		const struct aggregate_ops *ops = &aggregate_ops[query->aggregates[a].op];

		for (size_t i = 0; ops->release && states[a] && i < count; i++)
			ops->release((char *)states[a] + i * ops->bytes);
		free(states[a]);
		states[a] = NULL;
	}
}

void group_table_release(struct group_table *t)
{
	if (!t->query)
		return;
	release_states(t->query, t->states, t->count);
	for (unsigned k = 0; k < ENGINE_KEYS_MAX; k++)
		free(t->keys[k]);
	free(t->dense);
	free(t->hashed);
	*t = (struct group_table){ .count = 0 };
}

/* Lookup. */

/* The index of the keys in `dense`, or DENSE_MAX. */
static inline size_t dense_place(const struct group_table *t, int64_t first, int64_t second)
{
	if (t->query->key_count < 2)
		return (uint64_t)first < DENSE_MAX ? (size_t)first : DENSE_MAX;
	if ((uint64_t)first >= DENSE_MAX / SECOND_MAX || (uint64_t)second >= SECOND_MAX)
		return DENSE_MAX;
	return (size_t)first * SECOND_MAX + (size_t)second;
}

static uint64_t hash(int64_t first, int64_t second)
{
	uint64_t h = ((uint64_t)first * 0x9e3779b97f4a7c15u) ^ ((uint64_t)second + 0x632be59bd9b4e019u);

	h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
	return h ^ h >> 32;
}

static bool has_keys(const struct group_table *t, uint32_t slot, int64_t first, int64_t second)
{
	unsigned count = t->query->key_count;

	return (count < 1 || t->keys[0][slot] == first) && (count < 2 || t->keys[1][slot] == second);
}

static uint32_t *hashed_place(const struct group_table *t, int64_t first, int64_t second)
{
	size_t at = hash(first, second) & (t->hashed_cap - 1);

	while (t->hashed[at] && !has_keys(t, t->hashed[at], first, second))
		at = (at + 1) & (t->hashed_cap - 1);
	return &t->hashed[at];
}

static int grow_hashed(struct group_table *t)
{
	size_t cap = t->hashed_cap ? 2 * t->hashed_cap : 256, old_cap = t->hashed_cap;
	uint32_t *old = t->hashed;

	t->hashed = calloc(cap, sizeof(*t->hashed));
	if (!t->hashed) {
		t->hashed = old;
		return -ENOMEM;
	}
	t->hashed_cap = cap;
	for (size_t i = 0; i < old_cap; i++)
		if (old[i]) {
			uint32_t slot = old[i];

			*hashed_place(t, t->keys[0][slot], t->query->key_count > 1 ? t->keys[1][slot] : 0) = slot;
		}
	free(old);
	return 0;
}

static int grow_dense(struct group_table *t, size_t place)
{
	size_t cap = t->dense_cap ? t->dense_cap : 1024;
	uint32_t *dense;

	while (cap <= place)
		cap *= 2;
	dense = grown(t->dense, t->dense_cap, cap, sizeof(*dense));
	if (!dense)
		return -ENOMEM;
	t->dense = dense;
	t->dense_cap = cap;
	return 0;
}

/* The entry that holds, or will hold, the slot of these keys; NULL if out of memory. */
static uint32_t *place_of(struct group_table *t, int64_t first, int64_t second)
{
	size_t place = dense_place(t, first, second);

	if (place < DENSE_MAX) {
		if (place >= t->dense_cap && grow_dense(t, place) < 0)
			return NULL;
		return &t->dense[place];
	}
	if (2 * (t->count + 1) > t->hashed_cap && grow_hashed(t) < 0)
		return NULL;
	return hashed_place(t, first, second);
}

static int make_slot(struct group_table *t, uint32_t *place, int64_t first, int64_t second)
{
	if (t->count > ENGINE_GROUPS_MAX) {
		t->is_over = true;
		return 0;
	}
	if (t->count == t->cap && grow(t) < 0)
		return -ENOMEM;
	if (t->query->key_count > 0)
		t->keys[0][t->count] = first;
	if (t->query->key_count > 1)
		t->keys[1][t->count] = second;
	*place = (uint32_t)t->count++;
	t->has_no_quantiles |= t->count > ENGINE_SKETCHES_MAX + 1;
	return 0;
}

/* Find or create a slot; *slot is 0 if there are too many groups. */
static int find_slot(struct group_table *t, int64_t first, int64_t second, uint32_t *slot)
{
	uint32_t *place = place_of(t, first, second);

	if (!place || (!*place && make_slot(t, place, first, second) < 0))
		return -ENOMEM;
	*slot = *place;
	return 0;
}

static int assign_one(struct group_table *t, const int64_t *keys, size_t n, uint32_t *slots)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t slot = (uint64_t)keys[i] < t->dense_cap ? t->dense[keys[i]] : 0;

		if (__builtin_expect(!slot, 0) && find_slot(t, keys[i], 0, &slot) < 0)
			return -ENOMEM;
		slots[i] = slot;
	}
	return 0;
}

static int assign_two(struct group_table *t, const int64_t *first, const int64_t *second, size_t n, uint32_t *slots)
{
	for (size_t i = 0; i < n; i++) {
		size_t place = dense_place(t, first[i], second[i]);
		uint32_t slot = place < t->dense_cap ? t->dense[place] : 0;

		if (__builtin_expect(!slot, 0) && find_slot(t, first[i], second[i], &slot) < 0)
			return -ENOMEM;
		slots[i] = slot;
	}
	return 0;
}

int group_table_assign(struct group_table *t, const int64_t *const keys[ENGINE_KEYS_MAX], size_t n, uint32_t *slots)
{
	uint32_t slot;

	if (t->query->key_count == 1)
		return assign_one(t, keys[0], n, slots);
	if (t->query->key_count == 2)
		return assign_two(t, keys[0], keys[1], n, slots);
	if (find_slot(t, 0, 0, &slot) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		slots[i] = slot;
	return 0;
}

void group_filter(const int64_t *filter, size_t n, uint32_t *slots)
{
	for (size_t i = 0; i < n; i++)
		slots[i] = filter[i] == 0 || filter[i] == INT64_MIN ? 0 : slots[i];
}

bool group_table_skips(const struct group_table *t, unsigned a)
{
	return t->is_over || (t->has_no_quantiles && t->query->aggregates[a].op == ENGINE_QUANTILES);
}

/* Merging. */

static int merge_slot(struct group_table *t, uint32_t slot, void *const states[], size_t from,
		struct aggregate_memory *memory)
{
	for (unsigned a = 0; a < t->query->aggregate_count; a++) {
		const struct aggregate_ops *ops = &aggregate_ops[t->query->aggregates[a].op];
		int rc = 0;

		if (!group_table_skips(t, a))
			rc = ops->merge((char *)t->states[a] + slot * ops->bytes, (char *)states[a] + from * ops->bytes,
					memory);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int group_table_merge(struct group_table *t, struct group_table *from, struct aggregate_memory *memory)
{
	uint32_t slot;
	int rc = 0;

	t->is_over |= from->is_over;
	t->has_no_quantiles |= from->has_no_quantiles;
	for (size_t i = 1; i < from->count && rc == 0 && !t->is_over; i++) {
		rc = find_slot(t, t->query->key_count > 0 ? from->keys[0][i] : 0,
				t->query->key_count > 1 ? from->keys[1][i] : 0, &slot);
		if (rc == 0 && slot)
			rc = merge_slot(t, slot, from->states, i, memory);
	}
	return rc;
}

/* Sorting. */

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
