/*
 * The aggregates: one add loop each, over a column.
 */
#include "engine/aggregate.h"
#include "store/schema.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define MOMENT_MAX ((int64_t)1 << 51) /* its square, added 2^24 times, is well below 2^127 */

static int add_count(void *states, const struct aggregate_input *in, struct aggregate_memory *memory)
{
	uint64_t *counts = states;

	for (size_t i = 0; i < in->rows; i++)
		counts[in->slots[i]]++;
	return 0;
}

static int merge_count(void *into, void *from, struct aggregate_memory *memory)
{
	*(uint64_t *)into += *(uint64_t *)from;
	return 0;
}

static int save_count(struct buf *out, const void *state)
{
	pack_uint(out, *(const uint64_t *)state);
	return 0;
}

static int load_count(struct unpack *u, void *state, struct aggregate_memory *memory)
{
	*(uint64_t *)state = unpack_uint(u);
	return 0;
}

static int add_sum(void *states, const struct aggregate_input *in, struct aggregate_memory *memory)
{
	struct sum_state *sums = states;

	for (size_t i = 0; i < in->rows; i++) {
		int64_t v = in->ints[i];
		bool is_value = v != STORE_NULL;

		sums[in->slots[i]].sum += is_value ? v : 0;
		sums[in->slots[i]].count += is_value;
		sums[in->slots[i]].bits |= is_value ? (uint64_t)v << 1 ^ (uint64_t)(v >> 63) : 0;
	}
	return 0;
}

/* A negative duration, which only a damaged table has, covers no time. */
static int add_time(void *states, const struct aggregate_input *in, struct aggregate_memory *memory)
{
	struct sum_state *sums = states;

	for (size_t i = 0; in->ints && i < in->rows; i++) {
		sums[in->slots[i]].sum += in->ints[i] > 0 ? in->ints[i] : 0;
		sums[in->slots[i]].count += in->ints[i] != STORE_NULL;
	}
	return 0;
}

static int merge_sum(void *into, void *from, struct aggregate_memory *memory)
{
	struct sum_state *left = into, *right = from;

	left->sum += right->sum;
	left->count += right->count;
	left->bits |= right->bits;
	return 0;
}

static int save_sum(struct buf *out, const void *state)
{
	const struct sum_state *s = state;

	pack_wide(out, s->sum);
	pack_uint(out, s->count);
	pack_uint(out, s->bits);
	return 0;
}

static int load_sum(struct unpack *u, void *state, struct aggregate_memory *memory)
{
	struct sum_state *s = state;

	s->sum = unpack_wide(u);
	s->count = unpack_uint(u);
	s->bits = unpack_uint(u);
	return 0;
}

/* Minimum and maximum; always inlined with a constant, so that the loop has no branch on it. */
static inline bool is_better(int64_t v, const struct extreme_state *than, bool is_max)
{
	return !than->count || (is_max ? v > than->value : v < than->value);
}

static inline int add_extreme(struct extreme_state *s, const struct aggregate_input *in, bool is_max)
{
	for (size_t i = 0; i < in->rows; i++) {
		struct extreme_state *at = &s[in->slots[i]];

		if (in->ints[i] != STORE_NULL && is_better(in->ints[i], at, is_max))
			at->value = in->ints[i];
		at->count += in->ints[i] != STORE_NULL;
	}
	return 0;
}

static inline int merge_extreme(struct extreme_state *left, const struct extreme_state *right, bool is_max)
{
	if (right->count && is_better(right->value, left, is_max))
		left->value = right->value;
	left->count += right->count;
	return 0;
}

static int add_min(void *states, const struct aggregate_input *in, struct aggregate_memory *memory)
{
	return add_extreme(states, in, false);
}

static int add_max(void *states, const struct aggregate_input *in, struct aggregate_memory *memory)
{
	return add_extreme(states, in, true);
}

static int merge_min(void *into, void *from, struct aggregate_memory *memory)
{
	return merge_extreme(into, from, false);
}

static int merge_max(void *into, void *from, struct aggregate_memory *memory)
{
	return merge_extreme(into, from, true);
}

static int save_extreme(struct buf *out, const void *state)
{
	const struct extreme_state *s = state;

	pack_uint(out, s->count);
	pack_int(out, s->value);
	return 0;
}

static int load_extreme(struct unpack *u, void *state, struct aggregate_memory *memory)
{
	struct extreme_state *s = state;

	s->count = unpack_uint(u);
	s->value = unpack_int(u);
	return 0;
}

static int add_moments(void *states, const struct aggregate_input *in, struct aggregate_memory *memory)
{
	struct moments_state *s = states;

	for (size_t i = 0; i < in->rows; i++) {
		struct moments_state *at = &s[in->slots[i]];
		int64_t v = in->ints[i];

		if (v == STORE_NULL)
			continue;
		v = v > MOMENT_MAX ? MOMENT_MAX : v < -MOMENT_MAX ? -MOMENT_MAX : v;
		at->count++;
		at->sum += v;
		at->squares += (engine_wide)v * v;
	}
	return 0;
}

static int merge_moments(void *into, void *from, struct aggregate_memory *memory)
{
	struct moments_state *left = into, *right = from;

	left->count += right->count;
	left->sum += right->sum;
	left->squares += right->squares;
	return 0;
}

static int save_moments(struct buf *out, const void *state)
{
	const struct moments_state *s = state;

	pack_uint(out, s->count);
	pack_wide(out, s->sum);
	pack_wide(out, s->squares);
	return 0;
}

static int load_moments(struct unpack *u, void *state, struct aggregate_memory *memory)
{
	struct moments_state *s = state;

	s->count = unpack_uint(u);
	s->sum = unpack_wide(u);
	s->squares = unpack_wide(u);
	return 0;
}

static struct stats_sketch *sketch_at(struct stats_sketch *s, struct aggregate_memory *memory)
{
	if (!s->count && !s->invalid)
		stats_sketch_init(s, memory->arena);
	return s;
}

/* A null REAL is NaN, which the sketch counts separately. */
static int add_quantiles(void *states, const struct aggregate_input *in, struct aggregate_memory *memory)
{
	struct stats_sketch *s = states;

	for (size_t i = 0; i < in->rows; i++) {
		uint32_t slot = in->slots[i];

		if (!slot || (in->ints && in->ints[i] == STORE_NULL))
			continue;
		if (stats_sketch_add(sketch_at(&s[slot], memory), in->ints ? (double)in->ints[i] : in->reals[i], 1) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int merge_quantiles(void *into, void *from, struct aggregate_memory *memory)
{
	return stats_sketch_merge(sketch_at(into, memory), from);
}

static int save_quantiles(struct buf *out, const void *state)
{
	const struct stats_sketch *s = state;
	struct stats_bucket bucket;
	size_t i = 0, buckets = 0;

	pack_uint(out, s->count);
	pack_uint(out, s->invalid);
	pack_real(out, s->min);
	pack_real(out, s->max);
	while (s->count && stats_sketch_next(s, &i, &bucket))
		buckets++;
	pack_uint(out, buckets);
	for (i = 0; buckets && stats_sketch_next(s, &i, &bucket);) {
		pack_real(out, bucket.value);
		pack_uint(out, bucket.count);
	}
	return 0;
}

static int load_quantiles(struct unpack *u, void *state, struct aggregate_memory *memory)
{
	struct stats_sketch *s = sketch_at(state, memory);
	uint64_t count = unpack_uint(u), invalid = unpack_uint(u);
	double min = unpack_real(u), max = unpack_real(u);
	size_t buckets = unpack_count(u, sizeof(double) + 1);

	for (size_t i = 0; i < buckets && !u->is_bad; i++) {
		double value = unpack_real(u);

		if (stats_sketch_add(s, value, unpack_uint(u)) < 0)
			return -ENOMEM;
	}
	u->is_bad |= s->count != count || (count && !(min <= max));
	s->invalid = invalid;
	s->min = min;
	s->max = max;
	return 0;
}

static int add_distinct(void *states, const struct aggregate_input *in, struct aggregate_memory *memory)
{
	struct distinct *d = states;

	for (size_t i = 0; i < in->rows; i++) {
		bool is_same = i && in->slots[i] == in->slots[i - 1] && in->ints[i] == in->ints[i - 1];

		if (in->slots[i] && !is_same && in->ints[i] != STORE_NULL &&
				distinct_add(&d[in->slots[i]], in->ints[i]) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int merge_distinct(void *into, void *from, struct aggregate_memory *memory)
{
	return distinct_merge(into, from);
}

static int save_distinct(struct buf *out, const void *state)
{
	return distinct_save(out, state);
}

static int load_distinct(struct unpack *u, void *state, struct aggregate_memory *memory)
{
	return distinct_load(u, state);
}

static void release_distinct(void *state)
{
	distinct_release(state);
}

static int add_reals(void *states, const struct aggregate_input *in, struct aggregate_memory *memory)
{
	struct exactsum *s = states;

	for (size_t i = 0; i < in->rows; i++)
		if (!isnan(in->reals[i]))
			exactsum_add(&s[in->slots[i]], in->reals[i]);
	return 0;
}

static int merge_reals(void *into, void *from, struct aggregate_memory *memory)
{
	exactsum_merge(into, from);
	return 0;
}

static int save_reals(struct buf *out, const void *state)
{
	exactsum_save(out, state);
	return 0;
}

static int load_reals(struct unpack *u, void *state, struct aggregate_memory *memory)
{
	exactsum_load(u, state);
	return 0;
}

/* Interval sets: the rows of a block are sorted by group, and the rows of each group become one run. */

typedef int cover_add(struct interval_set *c, struct heap *heap, struct engine_interval *intervals,
		struct engine_interval *spare, size_t n);

void aggregate_memory_release(struct aggregate_memory *memory)
{
	free(memory->intervals);
	free(memory->spare);
	free(memory->places);
	free(memory->touched);
	memory->intervals = memory->spare = NULL;
	memory->places = memory->touched = NULL;
	memory->slot_cap = 0;
}

/* Allocate scratch memory for a block and this many slots; places are all 0 between blocks. */
static int need(struct aggregate_memory *m, size_t slots)
{
	size_t cap = m->slot_cap ? m->slot_cap : 256;

	if (!m->intervals) {
		m->intervals = calloc(ENGINE_RUN_INTERVALS, sizeof(*m->intervals));
		m->spare = calloc(ENGINE_RUN_INTERVALS, sizeof(*m->spare));
		m->touched = calloc(ENGINE_RUN_INTERVALS, sizeof(*m->touched));
	}
	if (!m->intervals || !m->spare || !m->touched)
		return -ENOMEM;
	while (cap < slots)
		cap *= 2;
	if (cap > m->slot_cap) {
		free(m->places);
		m->places = calloc(cap, sizeof(*m->places));
		m->slot_cap = m->places ? cap : 0;
	}
	return m->places ? 0 : -ENOMEM;
}

static struct engine_interval interval(const struct aggregate_input *in, size_t i)
{
	int64_t from = in->ts_ns[i], dur = in->dur_ns[i], to;

	if (from == STORE_NULL || dur <= 0) /* null too */
		return (struct engine_interval){ .from = 0, .to = 0 };
	if (__builtin_add_overflow(from, dur, &to))
		to = INT64_MAX;
	return (struct engine_interval){ .from = from, .to = to };
}

/* Count the rows of each slot, then compute where its rows start. */
static size_t place(const struct aggregate_input *in, struct aggregate_memory *m)
{
	size_t touched = 0;
	uint32_t at = 0;

	for (size_t i = 0; i < in->rows; i++)
		if (in->slots[i] && !m->places[in->slots[i]]++)
			m->touched[touched++] = in->slots[i];
	for (size_t t = 0; t < touched; t++) {
		uint32_t count = m->places[m->touched[t]];

		m->places[m->touched[t]] = at;
		at += count;
	}
	return touched;
}

static int add_cover(void *states, const struct aggregate_input *in, struct aggregate_memory *m, cover_add *add)
{
	struct interval_set *covers = states;
	size_t touched;
	uint32_t start = 0;
	int rc = need(m, in->slot_count);

	if (rc < 0)
		return rc;
	touched = place(in, m);
	for (size_t i = 0; i < in->rows; i++)
		if (in->slots[i])
			m->intervals[m->places[in->slots[i]]++] = interval(in, i);
	for (size_t t = 0; t < touched; t++) {
		uint32_t slot = m->touched[t], end = m->places[slot];

		if (rc == 0)
			rc = add(&covers[slot], m->heap, m->intervals + start, m->spare, end - start);
		start = end;
		m->places[slot] = 0;
	}
	return rc;
}

static int add_union(void *states, const struct aggregate_input *in, struct aggregate_memory *memory)
{
	return add_cover(states, in, memory, interval_set_add);
}

static int add_concurrency(void *states, const struct aggregate_input *in, struct aggregate_memory *memory)
{
	return add_cover(states, in, memory, interval_set_count);
}

static int merge_interval_set(void *into, void *from, struct aggregate_memory *memory)
{
	return interval_set_merge(into, from);
}

static int save_interval_set(struct buf *out, const void *state)
{
	return interval_set_save(out, state);
}

static int load_interval_set(struct unpack *u, void *state, struct aggregate_memory *memory)
{
	return interval_set_load(u, memory->heap, state);
}

static void release_interval_set(void *state)
{
	interval_set_release(state);
}

const struct aggregate_ops aggregate_ops[ENGINE_OPS] = {
	[ENGINE_COUNT] = { sizeof(uint64_t), add_count, merge_count, save_count, load_count, NULL },
	[ENGINE_SUM] = { sizeof(struct sum_state), add_sum, merge_sum, save_sum, load_sum, NULL },
	[ENGINE_MIN] = { sizeof(struct extreme_state), add_min, merge_min, save_extreme, load_extreme, NULL },
	[ENGINE_MAX] = { sizeof(struct extreme_state), add_max, merge_max, save_extreme, load_extreme, NULL },
	[ENGINE_MOMENTS] = { sizeof(struct moments_state), add_moments, merge_moments, save_moments, load_moments,
			NULL },
	[ENGINE_QUANTILES] = { sizeof(struct stats_sketch), add_quantiles, merge_quantiles, save_quantiles,
			load_quantiles, NULL },
	[ENGINE_DISTINCT] = { sizeof(struct distinct), add_distinct, merge_distinct, save_distinct, load_distinct,
			release_distinct },
	[ENGINE_SUM_REAL] = { sizeof(struct exactsum), add_reals, merge_reals, save_reals, load_reals, NULL },
	[ENGINE_TIME] = { sizeof(struct sum_state), add_time, merge_sum, save_sum, load_sum, NULL },
	[ENGINE_UNION] = { sizeof(struct interval_set), add_union, merge_interval_set, save_interval_set,
			load_interval_set, release_interval_set },
	[ENGINE_CONCURRENCY] = { sizeof(struct interval_set), add_concurrency, merge_interval_set, save_interval_set,
			load_interval_set, release_interval_set },
};
