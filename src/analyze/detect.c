/*
 * Iterations in streams of spans and calls; see detect.h.
 *
 * A stream has more than one loop: each is looked for in what those found
 * before leave over, and the one that most of the time goes to is taken. What
 * loads code is left out at first, and looked at only when without it there is
 * no loop: then it must be most of what the thread does.
 */
#include "analyze/detect-private.h"
#include "stats/repeats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TOKENS_MIN 12
#define ITERATIONS_MANY 8
#define ITERATIONS_FEW 4 /* what comes three times may be chance: start-up code is full of it */
#define STRETCHES_MAX 16
#define GAP_LENGTHS 4             /* of an iteration: a gap as wide as these ends the loop */
#define PAUSE (UINT32_C(1) << 31) /* after a call: a token of its own, another after each call */

void detect_plan(struct analyze *a, struct detect *d)
{
	for (int i = 0; i < DETECT_STREAMS; i++) {
		struct engine_query q = { "rows by thread", 1, { detect_streams[i].tid }, ENGINE_NONE, 1,
			{ { ENGINE_COUNT, ENGINE_NONE } } };

		d->by_thread[i] = analyze_query(a, detect_streams[i].table, &q);
	}
}

/* What loops are looked for in: tokens with pauses between them. */
struct sequence {
	const struct detect_tokens *of;
	uint32_t *tokens;
	int64_t *ts_ns, *end_ns; /* of each; of a pause both are its beginning */
	size_t count;
	bool has_code;
};

static void add(struct sequence *s, uint32_t token, int64_t ts_ns, int64_t dur_ns)
{
	s->tokens[s->count] = token;
	s->ts_ns[s->count] = ts_ns;
	s->end_ns[s->count++] = ts_ns + dur_ns;
}

static int sequence_make(struct sequence *s, const struct detect_tokens *t, bool has_code)
{
	*s = (struct sequence){ .of = t, .has_code = has_code };
	s->tokens = calloc(2 * t->count + 1, sizeof(*s->tokens));
	s->ts_ns = calloc(2 * t->count + 1, sizeof(*s->ts_ns));
	s->end_ns = calloc(2 * t->count + 1, sizeof(*s->end_ns));
	if (!s->tokens || !s->ts_ns || !s->end_ns)
		return -ENOMEM;
	for (size_t i = 0; i < t->count; i++) {
		const struct detect_token *k = &t->tokens[i];

		if (k->is_code && !has_code)
			continue;
		add(s, (uint32_t)k->name, k->ts_ns, k->dur_ns);
		if (k->is_before_pause)
			add(s, PAUSE | (uint32_t)k->name, k->ts_ns + k->dur_ns, 0);
	}
	return 0;
}

static void sequence_release(struct sequence *s)
{
	free(s->tokens);
	free(s->ts_ns);
	free(s->end_ns);
}

/* A loop in a part of it: places are those of the whole. */
struct loop {
	struct stats_repeats r;
	int64_t ns; /* that its iterations take, the last as long as the others */
};

/* The token behind an iteration. */
static size_t behind(const struct sequence *s, const struct stats_repeats *r, size_t i)
{
	size_t end = r->starts[i] + r->length;

	return end < s->count ? end : s->count;
}

/* Does the next follow at once? */
static bool is_followed(const struct sequence *s, const struct stats_repeats *r, size_t i)
{
	return i + 1 < r->count && r->starts[i + 1] < behind(s, r, i) + r->length;
}

/* What lies far from the others only looks like an iteration: of stretches with wide gaps between them the longest. */
static void keep_together(const struct sequence *s, struct stats_repeats *r)
{
	size_t best = 0, most = 0, first = 0;
	int64_t longest_ns = -1;

	for (size_t i = 0; i < r->count; i++) {
		int64_t ns = s->ts_ns[r->starts[i]] - s->ts_ns[r->starts[first]];

		if (ns > longest_ns) {
			longest_ns = ns;
			best = first;
			most = i + 1 - first;
		}
		if (i + 1 < r->count && r->starts[i + 1] - r->starts[i] > GAP_LENGTHS * r->length)
			first = i + 1;
	}
	memmove(r->starts, r->starts + best, most * sizeof(*r->starts));
	r->count = most;
}

static int look(const struct sequence *s, size_t from, size_t to, struct loop *found)
{
	struct stats_repeats *r = &found->r;
	int rc = stats_repeats_find(r, s->tokens + from, to - from);

	if (rc < 0 || !r->count)
		return rc;
	r->anchor += from;
	for (size_t i = 0; i < r->count; i++)
		r->starts[i] += from;
	keep_together(s, r);
	found->ns = s->ts_ns[r->starts[r->count - 1]] - s->ts_ns[r->starts[0]];
	found->ns += r->count > 1 ? found->ns / (int64_t)(r->count - 1) : 0;
	return 0;
}

/* A loop is worth a word when the thread spends a part of its life in it, the more the fewer iterations there are. */
static bool is_worth(const struct sequence *s, const struct loop *l)
{
	bool is_many = l->r.count >= ITERATIONS_MANY, is_few = l->r.count <= ITERATIONS_FEW;
	double least = is_few ? 0.8 : !is_many || s->has_code ? 0.5 : 0.1;

	return l->r.confidence >= 0.5 && (double)l->ns >= least * (double)s->of->life_ns &&
			(!is_few || l->r.count * l->r.length * 2 >= s->count);
}

/* The loop that most time goes to. Stretches that are too short to hold a longer one are not looked at. */
static int search(const struct sequence *s, struct loop *best)
{
	struct {
		size_t from, to;
	} left[STRETCHES_MAX] = { { 0, s->count } };
	size_t count = 1;
	int rc = 0;

	for (unsigned looks = 0; count && looks < STRETCHES_MAX && rc == 0; looks++) {
		size_t from = left[count - 1].from, to = left[count - 1].to, first, last;
		struct loop l = { .ns = 0 };

		count--;
		if (to - from < TOKENS_MIN || s->end_ns[to - 1] - s->ts_ns[from] <= best->ns)
			continue;
		rc = look(s, from, to, &l);
		if (rc < 0 || !l.r.count) {
			stats_repeats_release(&l.r);
			continue;
		}
		first = l.r.starts[0];
		last = behind(s, &l.r, l.r.count - 1);
		if (count + 2 <= STRETCHES_MAX) {
			left[count].from = from;
			left[count++].to = first;
			left[count].from = last;
			left[count++].to = to;
		}
		if (is_worth(s, &l) && l.ns > best->ns) {
			stats_repeats_release(&best->r);
			*best = l;
		} else {
			stats_repeats_release(&l.r);
		}
	}
	return rc;
}

/* What it is known by: the first call or span of an iteration. */
static int64_t name_of(const struct sequence *s, size_t at)
{
	while (at + 1 < s->count && s->tokens[at] & PAUSE)
		at++;
	return s->tokens[at] & ~PAUSE;
}

/* An iteration lasts until the next; one that none follows as long as its tokens, but no longer than the others. */
static void measure(const struct sequence *s, const struct stats_repeats *r, struct detected *d)
{
	int64_t longest_ns = 0, ns;

	for (size_t i = 0; i < r->count; i++) {
		d->from_ns[i] = s->ts_ns[r->starts[i]];
		if (is_followed(s, r, i))
			d->dur_ns[i] = s->ts_ns[r->starts[i + 1]] - d->from_ns[i];
		longest_ns = is_followed(s, r, i) && d->dur_ns[i] > longest_ns ? d->dur_ns[i] : longest_ns;
	}
	for (size_t i = 0; i < r->count; i++) {
		ns = s->end_ns[behind(s, r, i) - 1] - d->from_ns[i];
		if (!is_followed(s, r, i))
			d->dur_ns[i] = ns < longest_ns ? ns : longest_ns;
	}
}

static int keep(struct analyze *a, const struct sequence *s, const struct loop *l, struct detected *d)
{
	const struct stats_repeats *r = &l->r;

	d->from_ns = arena_alloc(&a->arena, (r->count + 1) * sizeof(*d->from_ns));
	d->dur_ns = arena_alloc(&a->arena, (r->count + 1) * sizeof(*d->dur_ns));
	if (!d->from_ns || !d->dur_ns)
		return -ENOMEM;
	measure(s, r, d);
	d->stream = s->of->stream->name;
	d->tid = s->of->tid;
	d->name = name_of(s, r->anchor > r->starts[0] ? r->anchor : r->starts[0]);
	d->confidence = r->confidence;
	d->count = r->count;
	return 0;
}

static int find(struct analyze *a, const struct detect_tokens *t, bool has_code, struct detected *d)
{
	struct sequence s;
	struct loop best = { .ns = 0 };
	int rc = sequence_make(&s, t, has_code);

	if (rc == 0 && s.count)
		rc = search(&s, &best);
	if (rc == 0 && best.r.count)
		rc = keep(a, &s, &best, d);
	stats_repeats_release(&best.r);
	sequence_release(&s);
	return rc;
}

static int try_stream(struct analyze *a, const struct detect *d, int stream, struct detected *found,
		struct sonde_err *err)
{
	const struct engine_groups *g = analyze_groups(a, detect_streams[stream].table, d->by_thread[stream]);
	struct detect_tokens t = { .a = a, .stream = &detect_streams[stream] };
	uint64_t most = 0;
	int rc;

	for (size_t i = 0; i < g->count; i++) {
		if (engine_count(g, 0, i) <= most || engine_key(g, i, 0) == STORE_NULL)
			continue;
		most = engine_count(g, 0, i);
		t.tid = engine_key(g, i, 0);
	}
	if (most < TOKENS_MIN)
		return 0;
	t.cap = most < DETECT_TOKENS_MAX ? most : DETECT_TOKENS_MAX;
	rc = detect_tokens_read(&t, err);
	for (int has_code = 0; has_code < 2 && rc == 0 && !found->count; has_code++)
		rc = find(a, &t, has_code, found);
	found->tokens = t.count;
	found->is_cut = most > t.cap;
	detect_tokens_release(&t);
	return rc == -ENOMEM ? err_sys(err, ENOMEM, "cannot look for iterations") : rc;
}

int detect_find(struct analyze *a, const struct detect *d, struct detected *found, struct sonde_err *err)
{
	int rc = 0;

	*found = (struct detected){ .count = 0 };
	for (int i = 0; i < DETECT_STREAMS && rc == 0 && !found->count; i++)
		rc = try_stream(a, d, i, found, err);
	return rc;
}
