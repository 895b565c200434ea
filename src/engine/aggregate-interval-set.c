/*
 * Interval sets of groups: the rows of a block are sorted by group, and the rows of each group become one run.
 */
#include "engine/aggregate-states.h"
#include "store/schema.h"

#include <errno.h>
#include <stdlib.h>

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

int aggregate_add_union(void *states, const struct aggregate_input *in, struct aggregate_memory *memory)
{
	return add_cover(states, in, memory, interval_set_add);
}

int aggregate_add_concurrency(void *states, const struct aggregate_input *in, struct aggregate_memory *memory)
{
	return add_cover(states, in, memory, interval_set_count);
}

int aggregate_merge_interval_set(void *into, void *from, struct aggregate_memory *memory)
{
	(void)memory;
	return interval_set_merge(into, from);
}

int aggregate_save_interval_set(struct buf *out, const void *state)
{
	return interval_set_save(out, state);
}

int aggregate_load_interval_set(struct unpack *u, void *state, struct aggregate_memory *memory)
{
	return interval_set_load(u, memory->heap, state);
}

void aggregate_release_interval_set(void *state)
{
	interval_set_release(state);
}
