/*
 * Bulej et al., "Duet benchmarking: improving measurement accuracy in the cloud" (ICPE 2020), and Drozdik's
 * asynchronous variant (thesis, Charles University, 2023); its sweep advances the side that started earlier and so
 * misses pairs. Here spans enter in order of their starts, and each is compared with those of the other side that
 * have entered and not yet ended: a visit finds a pair or removes a span permanently, so the work is the sorting plus
 * the pairs.
 */
#include "stats/overlap.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

struct side {
	const struct stats_span *spans;
	size_t n;
	size_t *order;  /* spans with a length, by start */
	size_t next;    /* index in order */
	size_t *active; /* entered and not known to have ended */
	size_t active_count;
};

struct sweep {
	struct side sides[2]; /* a, b */
	struct arena *arena;
	double min_rate;
	struct stats_overlap *pairs;
	size_t count, cap;
};

static uint64_t length_of(const struct stats_span *s)
{
	return s->end_ns > s->start_ns ? (uint64_t)s->end_ns - (uint64_t)s->start_ns : 0;
}

static bool starts_before(const struct stats_span *spans, size_t i, size_t j)
{
	return spans[i].start_ns != spans[j].start_ns ? spans[i].start_ns < spans[j].start_ns : i < j;
}

/* Merges two adjacent sorted ranges [first, middle) and [middle, end) through spare. */
static void merge(const struct stats_span *spans, size_t *order, size_t *spare, size_t first, size_t middle, size_t end)
{
	size_t i = first, j = middle;

	for (size_t k = first; k < end; k++)
		spare[k] = j >= end || (i < middle && starts_before(spans, order[i], order[j])) ? order[i++]
												: order[j++];
	memcpy(order + first, spare + first, (end - first) * sizeof(*order));
}

static bool is_sorted(const struct stats_span *spans, const size_t *order, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (starts_before(spans, order[i], order[i - 1]))
			return false;
	return true;
}

static void sort_by_start(struct side *s)
{
	if (is_sorted(s->spans, s->order, s->n))
		return;
	for (size_t width = 1; width < s->n; width *= 2)
		for (size_t first = 0; first + width < s->n; first += 2 * width) {
			size_t end = s->n - first < 2 * width ? s->n : first + 2 * width;

			merge(s->spans, s->order, s->active, first, first + width, end);
		}
}

static int side_init(struct side *s, const struct stats_span *spans, size_t n, struct arena *arena)
{
	*s = (struct side){ .spans = spans };
	s->order = arena_alloc(arena, n * sizeof(*s->order));
	s->active = arena_alloc(arena, n * sizeof(*s->active));
	if (!s->order || !s->active)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		if (length_of(&spans[i]))
			s->order[s->n++] = i;
	sort_by_start(s);
	return 0;
}

static int grow(struct sweep *w)
{
	size_t cap = w->cap ? w->cap * 2 : 64;
	struct stats_overlap *pairs = arena_alloc(w->arena, cap * sizeof(*pairs));

	if (!pairs)
		return -ENOMEM;
	if (w->count)
		memcpy(pairs, w->pairs, w->count * sizeof(*pairs));
	w->pairs = pairs;
	w->cap = cap;
	return 0;
}

static int add_pair(struct sweep *w, size_t a, size_t b)
{
	const struct stats_span *sa = &w->sides[0].spans[a], *sb = &w->sides[1].spans[b];
	int64_t start = sa->start_ns > sb->start_ns ? sa->start_ns : sb->start_ns;
	int64_t end = sa->end_ns < sb->end_ns ? sa->end_ns : sb->end_ns;
	double la = (double)length_of(sa), lb = (double)length_of(sb);
	uint64_t overlap = (uint64_t)end - (uint64_t)start;
	double rate = fmin(1, (double)overlap / fmax(la, lb));

	if (!(rate > w->min_rate))
		return 0;
	if (w->count == w->cap && grow(w) < 0)
		return -ENOMEM;
	w->pairs[w->count++] = (struct stats_overlap){ .a = a,
		.b = b,
		.overlap_ns = overlap,
		.rate = rate,
		.log_ratio = log(lb) - log(la) };
	return 0;
}

/* The next span of side `own` enters: pairs it with the active spans of the other side. */
static int enter(struct sweep *w, int own)
{
	struct side *mine = &w->sides[own], *other = &w->sides[!own];
	size_t me = mine->order[mine->next++], kept = 0;
	int rc = 0;

	for (size_t i = 0; i < other->active_count; i++) {
		size_t it = other->active[i];

		if (other->spans[it].end_ns <= mine->spans[me].start_ns)
			continue;
		other->active[kept++] = it;
		if (rc == 0)
			rc = own == 0 ? add_pair(w, me, it) : add_pair(w, it, me);
	}
	other->active_count = kept;
	mine->active[mine->active_count++] = me;
	return rc;
}

static int64_t next_start(const struct side *s)
{
	return s->next < s->n ? s->spans[s->order[s->next]].start_ns : INT64_MAX;
}

static bool is_before(const struct stats_overlap *p, const struct stats_overlap *q)
{
	return p->a != q->a ? p->a < q->a : p->b < q->b;
}

static void sift(struct stats_overlap *p, size_t at, size_t n)
{
	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		struct stats_overlap t = p[at];

		if (child + 1 < n && is_before(&p[child], &p[child + 1]))
			child++;
		if (!is_before(&t, &p[child]))
			return;
		p[at] = p[child];
		p[child] = t;
	}
}

static void sort_pairs(struct stats_overlap *p, size_t n)
{
	for (size_t i = n / 2; i > 0; i--)
		sift(p, i - 1, n);
	for (size_t left = n; left > 1; left--) {
		struct stats_overlap t = p[0];

		p[0] = p[left - 1];
		p[left - 1] = t;
		sift(p, 0, left - 1);
	}
}

int stats_overlaps(const struct stats_span *a, size_t na, const struct stats_span *b, size_t nb, double min_rate,
		struct arena *arena, struct stats_overlap **pairs, size_t *count, struct sonde_err *err)
{
	struct sweep w = { .arena = arena, .min_rate = min_rate };
	struct side *sides = w.sides;
	int rc = side_init(&sides[0], a, na, arena);

	if (rc == 0)
		rc = side_init(&sides[1], b, nb, arena);
	while (rc == 0 && (sides[0].next < sides[0].n || sides[1].next < sides[1].n))
		rc = enter(&w, next_start(&sides[1]) < next_start(&sides[0]));
	if (rc < 0)
		return err_sys(err, -rc, "cannot pair %zu iterations with %zu", na, nb);
	sort_pairs(w.pairs, w.count);
	*pairs = w.pairs;
	*count = w.count;
	return 0;
}
