/* Building, saving and loading interval sets, and visiting them in time order. */
#include "engine/interval-set.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * The encoding of a run. Intervals: for each the gap since the end of the previous one (0 for the first, which starts
 * at `first`) and its length, as written by pack_uint; weighted ones have a third number, their weight. Points: the
 * gap since the previous one.
 */
enum run_kind { RUN_INTERVALS, RUN_WEIGHTED, RUN_BEGINS, RUN_ENDS };

struct engine_run {
	const uint8_t *data;
	int64_t first; /* the time of its first start or point */
	uint32_t bytes;
	uint8_t kind;
};

/* Written by this process, so not checked. */
static inline uint64_t run_number(const uint8_t **at)
{
	uint64_t v = **at & 127;

	for (unsigned shift = 7; *(*at)++ >= 128; shift += 7)
		v |= (uint64_t)(**at & 127) << shift;
	return v;
}

/*
 * Sorting and joining. Rows are stored as threads wrote them, in consecutive sorted sequences, so the sort is a natural
 * merge sort: it finds sorted sequences and merges them.
 */

/* The end of the ascending sequence that starts at `at`. */
static size_t stretch(const struct engine_interval *v, size_t at, size_t n)
{
	do
		at++;
	while (at < n && v[at - 1].from <= v[at].from);
	return at;
}

static void merge(const struct engine_interval *v, size_t start, size_t middle, size_t end, struct engine_interval *out)
{
	size_t left = start, right = middle, at = start;

	while (left < middle && right < end) {
		bool is_right = v[right].from < v[left].from;

		out[at++] = v[is_right ? right : left];
		right += is_right;
		left += !is_right;
	}
	memcpy(out + at, v + left, (middle - left) * sizeof(*v));
	memcpy(out + at + (middle - left), v + right, (end - right) * sizeof(*v));
}

/* Sort n intervals by from; spare has room for n. */
static void intervals_sort(struct engine_interval *intervals, struct engine_interval *spare, size_t n)
{
	struct engine_interval *from = intervals, *to = spare, *other;

	while (n && stretch(from, 0, n) < n) {
		for (size_t at = 0, middle, end; at < n; at = end) {
			middle = stretch(from, at, n);
			end = middle < n ? stretch(from, middle, n) : n;
			merge(from, at, middle, end, to);
		}
		other = from;
		from = to;
		to = other;
	}
	if (from != intervals)
		memcpy(intervals, from, n * sizeof(*from));
}

/* Join intervals that overlap or touch; sorted before and after. Returns how many are left. */
static size_t intervals_join(struct engine_interval *intervals, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (intervals[i].to <= intervals[i].from)
			continue;
		if (!kept || intervals[i].from > intervals[kept - 1].to)
			intervals[kept++] = intervals[i];
		else if (intervals[i].to > intervals[kept - 1].to)
			intervals[kept - 1].to = intervals[i].to;
	}
	return kept;
}

/* Building. */

#define NUMBER_BYTES 10 /* maximum, of a 64-bit number */

void interval_set_release(struct interval_set *c)
{
	free(c->runs);
	*c = (struct interval_set){ .count = 0 };
}

static struct engine_run *add_run(struct interval_set *c)
{
	if (c->count == c->cap) {
		uint32_t cap = c->cap ? 2 * c->cap : 4;
		struct engine_run *runs = reallocarray(c->runs, cap, sizeof(*runs));

		if (!runs)
			return NULL;
		c->runs = runs;
		c->cap = cap;
	}
	return &c->runs[c->count++];
}

static inline uint8_t *put(uint8_t *at, uint64_t v)
{
	for (; v >= 128; v >>= 7)
		*at++ = (uint8_t)(v | 128);
	*at++ = (uint8_t)v;
	return at;
}

/* Add intervals that are sorted and joined. */
static int add_intervals(struct interval_set *c, struct heap *heap, const struct engine_interval *v, size_t n)
{
	uint8_t *room = n ? heap_room(heap, n * 2 * NUMBER_BYTES) : NULL, *at = room;
	struct engine_run *run = room ? add_run(c) : NULL;
	int64_t last;

	if (!run)
		return n ? -ENOMEM : 0;
	last = v[0].from;
	for (size_t i = 0; i < n; i++) {
		at = put(at, (uint64_t)v[i].from - (uint64_t)last);
		at = put(at, (uint64_t)v[i].to - (uint64_t)v[i].from);
		last = v[i].to;
	}
	*run = (struct engine_run){ .data = room, .first = v[0].from, .bytes = (uint32_t)(at - room) };
	heap_took(heap, run->bytes);
	return 0;
}

int interval_set_add(struct interval_set *c, struct heap *heap, struct engine_interval *intervals,
		struct engine_interval *spare, size_t n)
{
	intervals_sort(intervals, spare, n);
	return add_intervals(c, heap, intervals, intervals_join(intervals, n));
}

/* Add the `from`s of sorted intervals. */
static int add_points(struct interval_set *c, struct heap *heap, const struct engine_interval *v, size_t n,
		enum run_kind kind)
{
	uint8_t *room = n ? heap_room(heap, n * NUMBER_BYTES) : NULL, *at = room;
	struct engine_run *run = room ? add_run(c) : NULL;

	if (!run)
		return n ? -ENOMEM : 0;
	for (size_t i = 0; i < n; i++)
		at = put(at, (uint64_t)v[i].from - (uint64_t)v[i ? i - 1 : 0].from);
	*run = (struct engine_run){ .data = room,
		.first = v[0].from,
		.bytes = (uint32_t)(at - room),
		.kind = (uint8_t)kind };
	heap_took(heap, run->bytes);
	return 0;
}

int interval_set_count(struct interval_set *c, struct heap *heap, struct engine_interval *intervals,
		struct engine_interval *spare, size_t n)
{
	size_t kept = 0;
	int rc;

	for (size_t i = 0; i < n; i++)
		if (intervals[i].to > intervals[i].from)
			intervals[kept++] = intervals[i];
	intervals_sort(intervals, spare, kept);
	rc = add_points(c, heap, intervals, kept, RUN_BEGINS);
	for (size_t i = 0; i < kept; i++)
		intervals[i].from = intervals[i].to;
	intervals_sort(intervals, spare, kept);
	return rc < 0 ? rc : add_points(c, heap, intervals, kept, RUN_ENDS);
}

int interval_set_merge(struct interval_set *c, struct interval_set *from)
{
	for (uint32_t i = 0; i < from->count; i++) {
		struct engine_run *run = add_run(c);

		if (!run)
			return -ENOMEM;
		*run = from->runs[i];
	}
	interval_set_release(from);
	return 0;
}

/* Saving and loading. */

struct saving {
	struct buf out;
	int64_t last;     /* end of the previous interval, */
	int64_t from, to; /* the one being extended, */
	uint64_t active;  /* and its number of concurrent events */
	uint64_t count;
	bool is_counted;
};

static void save_interval(struct saving *s)
{
	if (s->to == s->from)
		return;
	pack_int(&s->out, (int64_t)((uint64_t)s->from - (uint64_t)s->last));
	pack_uint(&s->out, (uint64_t)s->to - (uint64_t)s->from);
	if (s->is_counted)
		pack_uint(&s->out, s->active);
	s->last = s->to;
	s->count++;
}

/* Adjacent intervals (of a counted set: with the same number of concurrent events) are joined. */
static void save_stretch(void *arg, int64_t from, int64_t to, uint64_t mask, uint64_t active)
{
	struct saving *s = arg;

	if (from == s->to && s->to != s->from && (!s->is_counted || active == s->active)) {
		s->to = to;
		return;
	}
	save_interval(s);
	s->from = from;
	s->to = to;
	s->active = active;
}

int interval_set_save(struct buf *out, const struct interval_set *c)
{
	struct engine_sweep_set set = { .cover = c };
	struct saving s = { .out = BUF_INIT };
	int rc;

	for (uint32_t i = 0; i < c->count; i++)
		s.is_counted |= c->runs[i].kind != RUN_INTERVALS;
	rc = engine_sweep(&set, 1, save_stretch, &s);
	save_interval(&s);
	pack_uint(out, s.count);
	pack_uint(out, s.is_counted);
	buf_add(out, s.out.data, s.out.len);
	rc = rc < 0 ? rc : buf_error(&s.out);
	buf_release(&s.out);
	return rc;
}

/* Load one interval of a partial result. Intervals must be in order and must not overlap. */
static void load_stretch(struct unpack *u, int64_t *last, bool is_first, struct engine_interval *v)
{
	int64_t gap = unpack_int(u);
	uint64_t length = unpack_uint(u);

	u->is_bad |= (gap < 0 && !is_first) || length == 0 || length > INT64_MAX;
	u->is_bad |= __builtin_add_overflow(*last, gap, &v->from);
	u->is_bad |= __builtin_add_overflow(v->from, (int64_t)length, &v->to);
	*last = v->to;
}

/* Load intervals that are weighted by their number of concurrent events. */
static int load_weighted(struct unpack *u, struct heap *heap, struct interval_set *c, size_t n, int64_t *last)
{
	uint8_t *room = heap_room(heap, n * 3 * NUMBER_BYTES), *at = room;
	struct engine_run *run = room ? add_run(c) : NULL;
	struct engine_interval v = { .from = 0 };

	if (!run)
		return -ENOMEM;
	*run = (struct engine_run){ .data = room, .kind = RUN_WEIGHTED };
	for (size_t i = 0; i < n && !u->is_bad; i++) {
		int64_t before = *last;

		load_stretch(u, last, *last == 0, &v);
		if (i == 0)
			before = run->first = v.from;
		at = put(at, (uint64_t)v.from - (uint64_t)before);
		at = put(at, (uint64_t)v.to - (uint64_t)v.from);
		at = put(at, unpack_uint(u));
	}
	run->bytes = (uint32_t)(at - room);
	heap_took(heap, run->bytes);
	c->count -= u->is_bad;
	return 0;
}

static int load_plain(struct unpack *u, struct heap *heap, struct interval_set *c, size_t n, int64_t *last)
{
	struct engine_interval *v = calloc(2 * n, sizeof(*v));
	int rc = v ? 0 : -ENOMEM;

	for (size_t i = 0; v && i < n && !u->is_bad; i++)
		load_stretch(u, last, *last == 0, &v[i]);
	if (rc == 0 && !u->is_bad)
		rc = interval_set_add(c, heap, v, v + n, n);
	free(v);
	return rc;
}

int interval_set_load(struct unpack *u, struct heap *heap, struct interval_set *c)
{
	size_t left = unpack_count(u, 2), n;
	bool is_counted = unpack_uint(u);
	int64_t last = 0;
	int rc = 0;

	for (; left && rc == 0 && !u->is_bad; left -= n) {
		n = left < ENGINE_RUN_INTERVALS ? left : ENGINE_RUN_INTERVALS;
		rc = (is_counted ? load_weighted : load_plain)(u, heap, c, n, &last);
	}
	return rc;
}

/* Visiting sets in time order: a heap of the runs that have started, each with its next start or end. */

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
	*(int64_t *)arg += to - from;
}

int64_t interval_set_ns(const struct engine_sweep_set *sets, size_t count)
{
	int64_t ns = 0;
	int rc = engine_sweep(sets, count, add_up, &ns);

	return rc < 0 ? rc : ns;
}
