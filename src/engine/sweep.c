/*
 * Visiting interval sets in time order: a heap of the runs that have started, each with its next start or end.
 */
#include "engine/interval-set-private.h"

#include <errno.h>
#include <stdlib.h>

#define CLASSES 64

/* Position in a run. */
struct cursor {
	int64_t time; /* of its next start or end */
	int64_t to;   /* end of the interval that starts there */
	uint64_t weight;
	const uint8_t *at, *end;
	uint8_t class, kind;
	bool is_inside;
};

struct sweep {
	struct cursor *cursors; /* in order of start */
	size_t count, next;
	struct cursor **heap; /* those that have started, the earliest first */
	size_t heap_count;
	uint64_t active, active_by_class[CLASSES];
	uint64_t mask;
};

static void decode(struct cursor *c)
{
	uint64_t gap = run_number(&c->at);

	c->time = (int64_t)((uint64_t)c->time + gap);
	if (c->kind <= RUN_WEIGHTED)
		c->to = (int64_t)((uint64_t)c->time + run_number(&c->at));
	if (c->kind == RUN_WEIGHTED)
		c->weight = run_number(&c->at);
}

static void start(struct cursor *c, const struct engine_run *run, unsigned class)
{
	*c = (struct cursor){ .time = run->first,
		.weight = 1,
		.at = run->data,
		.end = run->data + run->bytes,
		.class = (uint8_t) class,
		.kind = run->kind };
	decode(c);
}

/* Advance to the next start or end; false at the end. */
static bool advance(struct cursor *c)
{
	if (c->kind <= RUN_WEIGHTED && !c->is_inside) {
		c->is_inside = true;
		c->time = c->to;
		return true;
	}
	c->is_inside = false;
	if (c->at == c->end)
		return false;
	decode(c);
	return true;
}

static int by_time(const void *a, const void *b)
{
	const struct cursor *left = a, *right = b;

	return (left->time > right->time) - (left->time < right->time);
}

static void sift_down(struct sweep *s)
{
	struct cursor *top = s->heap[0];
	size_t at = 0, child;

	while ((child = 2 * at + 1) < s->heap_count) {
		child += child + 1 < s->heap_count && s->heap[child + 1]->time < s->heap[child]->time;
		if (s->heap[child]->time >= top->time)
			break;
		s->heap[at] = s->heap[child];
		at = child;
	}
	s->heap[at] = top;
}

static void push(struct sweep *s, struct cursor *c)
{
	size_t at = s->heap_count++;

	while (at && s->heap[(at - 1) / 2]->time > c->time) {
		s->heap[at] = s->heap[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	s->heap[at] = c;
}

/* The cursor with the earliest start or end; NULL at the end. */
static struct cursor *nearest(struct sweep *s)
{
	while (s->next < s->count && (!s->heap_count || s->cursors[s->next].time <= s->heap[0]->time))
		push(s, &s->cursors[s->next++]);
	return s->heap_count ? s->heap[0] : NULL;
}

/* May wrap below zero while an end is processed before a start of the same time; the value is not used until then. */
static void step(struct sweep *s, const struct cursor *c)
{
	bool is_end = c->kind <= RUN_WEIGHTED ? c->is_inside : c->kind == RUN_ENDS;
	uint64_t one = is_end ? -c->weight : c->weight, bit = (uint64_t)1 << c->class;

	s->active += one;
	s->active_by_class[c->class] += one;
	s->mask = s->active_by_class[c->class] ? s->mask | bit : s->mask & ~bit;
}

static void sweep(struct sweep *s, engine_visit *visit, void *arg)
{
	struct cursor *c;
	int64_t now = 0;

	while ((c = nearest(s))) {
		if (s->active && c->time > now)
			visit(arg, now, c->time, s->mask, s->active);
		now = c->time;
		step(s, c);
		if (!advance(c))
			s->heap[0] = s->heap[--s->heap_count];
		if (s->heap_count)
			sift_down(s);
	}
}

static void start_all(struct sweep *s, const struct engine_sweep_set *sets, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (uint32_t r = 0; r < sets[i].cover->count; r++)
			start(&s->cursors[s->count++], &sets[i].cover->runs[r], sets[i].class % CLASSES);
	if (s->count)
		qsort(s->cursors, s->count, sizeof(*s->cursors), by_time);
}

int engine_sweep(const struct engine_sweep_set *sets, size_t count, engine_visit *visit, void *arg)
{
	struct sweep s = { .count = 0 };
	size_t runs = 0;
	int rc = -ENOMEM;

	for (size_t i = 0; i < count; i++)
		runs += sets[i].cover->count;
	s.cursors = calloc(runs + 1, sizeof(*s.cursors));
	s.heap = calloc(runs + 1, sizeof(struct cursor *));
	if (s.cursors && s.heap) {
		start_all(&s, sets, count);
		sweep(&s, visit, arg);
		rc = 0;
	}
	free(s.heap);
	free(s.cursors);
	return rc;
}

static void add_up(void *arg, int64_t from, int64_t to, uint64_t mask, uint64_t active)
{
	(void)mask, (void)active;
	*(int64_t *)arg += to - from;
}

int64_t interval_set_ns(const struct engine_sweep_set *sets, size_t count)
{
	int64_t ns = 0;
	int rc = engine_sweep(sets, count, add_up, &ns);

	return rc < 0 ? rc : ns;
}
