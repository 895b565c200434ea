/* Building, saving and loading interval sets. */
#include "engine/interval-set-private.h"

#include <errno.h>
#include <stdlib.h>

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

	(void)mask;
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
