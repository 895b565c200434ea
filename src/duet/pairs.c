#include "duet/pairs.h"

#include "stats/interval.h"
#include "stats/overlap.h"
#include "stats/series.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Maximum share of an iteration outside the time in which both sides ran. */
#define ALONE_SHARE_MAX 0.01

struct maker {
	struct duet_pairs *out;
	const struct duet_pairing *how;
	struct arena *arena;
	struct sonde_err *err;
};

const char *duet_metric_name(const struct duet_pairing *how)
{
	return how->counter ? how->counter : duet_metric_names[how->metric];
}

static int no_memory(struct maker *m)
{
	return err_sys(m->err, ENOMEM, "cannot pair the iterations");
}

static void *grow(struct maker *m, const void *old, size_t count, size_t capacity, size_t size)
{
	void *items = arena_alloc(m->arena, capacity * size);

	if (items && count)
		memcpy(items, old, count * size);
	return items;
}

static int reserve(struct maker *m)
{
	struct duet_pairs *p = m->out;
	size_t capacity = p->capacity ? 2 * p->capacity : 64;

	if (p->count < p->capacity)
		return 0;
	p->x = grow(m, p->x, p->count, capacity, sizeof(*p->x));
	p->weight = grow(m, p->weight, p->count, capacity, sizeof(*p->weight));
	p->a = grow(m, p->a, p->count, capacity, sizeof(*p->a));
	p->b = grow(m, p->b, p->count, capacity, sizeof(*p->b));
	p->capacity = capacity;
	return p->x && p->weight && p->a && p->b ? 0 : no_memory(m);
}

static int add_pair(struct maker *m, const struct duet_run *run, size_t a, size_t b, double weight)
{
	struct duet_pairs *p = m->out;
	double x = stats_log_ratio(run->sides[DUET_A].items[a].metrics[m->how->metric],
			run->sides[DUET_B].items[b].metrics[m->how->metric]);
	int rc = reserve(m);

	if (rc)
		return rc;
	if (!isfinite(x)) {
		p->missing++;
		return 0;
	}
	p->x[p->count] = m->how->is_more_better ? -x : x;
	p->weight[p->count] = weight;
	p->a[p->count] = a;
	p->b[p->count] = b;
	p->count++;
	return 0;
}

/* Finds the steady part of one side. */
static int find_steady(struct maker *m, const struct duet_samples *s, size_t *first)
{
	struct stats_warmup warmup;
	double *x = arena_alloc(m->arena, s->count * sizeof(*x));
	int rc;

	*first = 0;
	if (!x)
		return no_memory(m);
	for (size_t i = 0; i < s->count; i++) {
		x[i] = log(s->items[i].metrics[m->how->metric]);
		if (!isfinite(x[i]))
			return 0;
	}
	rc = stats_warmup(x, s->count, m->arena, &warmup, m->err);
	if (rc)
		return rc;
	*first = warmup.first;
	if (!warmup.is_settled && s->count >= STATS_WARMUP_MIN) {
		m->out->unsettled++;
		*first = s->count / 2;
	}
	return 0;
}

static int find_start(struct maker *m, const struct duet_run *run, size_t *first)
{
	size_t a = 0, b = 0;
	int rc = 0;

	*first = 0;
	if (!m->how->has_warmup)
		return 0;
	rc = find_steady(m, &run->sides[DUET_A], &a);
	if (!rc)
		rc = find_steady(m, &run->sides[DUET_B], &b);
	*first = a > b ? a : b;
	return rc;
}

static int pair_by_index(struct maker *m, const struct duet_run *run, size_t first)
{
	size_t na = run->sides[DUET_A].count, nb = run->sides[DUET_B].count, n = na < nb ? na : nb;
	int rc = 0;

	for (size_t i = first; i < n && rc == 0; i++)
		rc = add_pair(m, run, i, i, 1);
	m->out->unpaired += (na > nb ? na : nb) - n;
	return rc;
}

/* The time in which both sides ran; empty if one has no iterations. */
static struct stats_span common_time(const struct duet_run *run)
{
	struct stats_span common = { INT64_MIN, INT64_MAX };

	for (size_t side = 0; side < DUET_SIDES; side++) {
		const struct duet_samples *s = &run->sides[side];
		int64_t start = INT64_MAX, end = INT64_MIN;

		for (size_t i = 0; i < s->count; i++) {
			start = s->items[i].start_ns < start ? s->items[i].start_ns : start;
			end = s->items[i].end_ns > end ? s->items[i].end_ns : end;
		}
		common.start_ns = start > common.start_ns ? start : common.start_ns;
		common.end_ns = end < common.end_ns ? end : common.end_ns;
	}
	return common;
}

static bool is_accompanied(const struct duet_iteration *it, const struct stats_span *common)
{
	int64_t before = common->start_ns - it->start_ns, after = it->end_ns - common->end_ns;
	double alone = (double)(before > 0 ? before : 0) + (double)(after > 0 ? after : 0);

	return alone <= ALONE_SHARE_MAX * (double)(it->end_ns - it->start_ns);
}

/* Returns the spans of a side; excluded ones have length 0. */
static struct stats_span *spans_of(struct maker *m, const struct duet_samples *s, size_t first,
		const struct stats_span *common)
{
	struct stats_span *spans = arena_alloc(m->arena, (s->count + 1) * sizeof(*spans));

	for (size_t i = 0; spans && i < s->count; i++)
		if (i >= first && (!common || is_accompanied(&s->items[i], common)))
			spans[i] = (struct stats_span){ s->items[i].start_ns, s->items[i].end_ns };
	return spans;
}

/*
 * If one side is several times as long as the other, no overlap is large; with a fixed number of iterations it may
 * end before the other has finished one. Then any overlap counts, and after that also iterations partly outside the
 * common time.
 */
static int pair_by_overlap(struct maker *m, const struct duet_run *run, size_t first)
{
	struct stats_span common = common_time(run);
	double rate = m->how->min_overlap > 0 ? m->how->min_overlap : STATS_OVERLAP_RATE;
	struct stats_overlap *pairs;
	size_t count = 0;
	int rc = 0;

	for (int attempt = 0; attempt < 4 && !count && !rc; attempt++) {
		const struct duet_samples *a = &run->sides[DUET_A], *b = &run->sides[DUET_B];
		const struct stats_span *within = attempt < 2 ? &common : NULL;
		struct stats_span *spans_a = spans_of(m, a, first, within), *spans_b = spans_of(m, b, first, within);

		rc = spans_a && spans_b ? stats_overlaps(spans_a, a->count, spans_b, b->count, attempt % 2 ? 0 : rate,
							  m->arena, &pairs, &count, m->err)
					: no_memory(m);
	}
	for (size_t i = 0; i < count && rc == 0; i++)
		rc = add_pair(m, run, pairs[i].a, pairs[i].b, (double)pairs[i].overlap_ns);
	return rc;
}

int duet_pairs_make(struct duet_pairs *out, const struct duet_run *runs, size_t count, const struct duet_pairing *how,
		struct arena *arena, struct sonde_err *err)
{
	struct maker m = { .out = out, .how = how, .arena = arena, .err = err };
	int rc = 0;

	*out = (struct duet_pairs){ .runs = count, .first = arena_alloc(arena, (count + 1) * sizeof(*out->first)) };
	if (!out->first)
		return no_memory(&m);
	for (size_t r = 0; r < count && rc == 0; r++) {
		size_t start;

		rc = find_start(&m, &runs[r], &start);
		for (size_t side = 0; side < DUET_SIDES && !rc; side++)
			out->warmup += start < runs[r].sides[side].count ? start : runs[r].sides[side].count;
		if (!rc)
			rc = runs[r].design == DUET_ASYNC ? pair_by_overlap(&m, &runs[r], start)
							  : pair_by_index(&m, &runs[r], start);
		out->first[r + 1] = out->count;
	}
	return rc;
}

struct stats_runs duet_pairs_runs(const struct duet_pairs *pairs)
{
	return (struct stats_runs){ .x = pairs->x,
		.weight = pairs->weight,
		.first = pairs->first,
		.count = pairs->runs };
}
