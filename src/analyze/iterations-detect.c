/*
 * Iterations in streams of spans, calls and processes.
 *
 * A stream can have more than one loop: each is searched for in the tokens outside the loops found before, and the
 * loop with the most time is used. Tokens that load code are left out at first, and included only if no loop is
 * found; then they must be most of what the thread does. If iterations have different lengths, such as reads of files
 * of different size, immediate repetitions of a call count as one. If an iteration is a single call, pauses separate
 * iterations. A busy machine adds pauses: other loops do not need them.
 */
#include "analyze/iterations-detect.h"
#include "stats/loop-detect.h"

#include <errno.h>
#include <stdlib.h>

#define TOKENS_MIN 12
#define ITERATIONS_MANY 8
#define ITERATIONS_FEW 4    /* three repetitions may be chance: start-up code is full of them */
#define VARIETY_FEW 4       /* minimum different calls if there are few iterations */
#define VARIETY_RUNS 3      /* the same if repeated calls count as one */
#define CONFIDENCE_MIN 0.75 /* start-up code reaches 0.6 to 0.7 */
#define OF_LIFE_MOST 0.01   /* minimum share of the thread's lifetime, if most calls are in the loop */
#define OF_LIFE_MANY 0.03   /* the same if they are not, but have several kinds */
#define OF_LIFE_PLAIN 0.1   /* and if they have few kinds */
#define OF_LIFE_SOME 0.5
#define OF_LIFE_FEW 0.8
#define PIECES_FEW 64 /* maximum voting n-grams: see stats/loop-detect.c */
#define STRETCHES_MAX 16
#define PAUSES_MORE 1.5           /* factor of weight required to prefer a loop with pauses */
#define OUTER_MORE 1.5            /* factor of weight required to prefer a loop over processes */
#define PAUSE (UINT32_C(1) << 31) /* after a call: one pause token per kind of call */
#define APART (UINT32_C(1) << 29) /* a token that occurs once */
#define LEFT_OUT_MANY 32          /* consecutive calls that load code: more than an iteration has */

void detect_plan(struct analyze *a, struct detect *d)
{
	for (int i = 0; i < DETECT_STREAMS; i++) {
		struct engine_query q = { "rows by thread", 1, { detect_streams[i].tid }, ENGINE_NONE, 1,
			{ { ENGINE_COUNT, ENGINE_NONE } } };

		d->by_thread[i] = analyze_query(a, detect_streams[i].table, &q);
	}
	d->last_calls = analyze_query(a, STORE_TABLE_IO,
			&(struct engine_query){ "last calls", 1, { STORE_IO_process }, ENGINE_NONE, 1,
					{ { ENGINE_MAX, STORE_IO_ts_ns } } });
}

/* Filters of a stream: include calls that load code; merge repeated calls; insert pauses. */
enum { CODE = 1, RUNS = 2, PAUSES = 4 };

/* The input of the loop search: tokens and pauses. */
struct sequence {
	const struct detect_tokens *of;
	uint32_t *tokens;
	int64_t *names;          /* of tokens */
	int64_t *ts_ns, *end_ns; /* of each; for a pause both are its start */
	size_t count, apart;     /* all tokens; separators among them */
	unsigned way;
};

static void add(struct sequence *s, uint32_t token, int64_t name, int64_t ts_ns, int64_t dur_ns)
{
	s->tokens[s->count] = token;
	s->names[s->count] = name;
	s->ts_ns[s->count] = ts_ns;
	s->end_ns[s->count++] = ts_ns + dur_ns;
}

/* Unique tokens separate what comes before and after a long stretch of omitted tokens. */
static int sequence_init(struct sequence *s, const struct detect_tokens *t, unsigned way)
{
	size_t left_out = 0;

	*s = (struct sequence){ .of = t, .way = way };
	s->tokens = calloc(2 * t->count + 1, sizeof(*s->tokens));
	s->names = calloc(2 * t->count + 1, sizeof(*s->names));
	s->ts_ns = calloc(2 * t->count + 1, sizeof(*s->ts_ns));
	s->end_ns = calloc(2 * t->count + 1, sizeof(*s->end_ns));
	if (!s->tokens || !s->names || !s->ts_ns || !s->end_ns)
		return -ENOMEM;
	for (size_t i = 0; i < t->count; i++) {
		const struct detect_token *k = &t->tokens[i];

		if (k->is_code && !(way & CODE)) {
			left_out++;
			continue;
		}
		for (size_t n = left_out >= LEFT_OUT_MANY ? left_out : 0; n; n--, s->apart++)
			add(s, APART | (uint32_t)s->count, k->name, k->ts_ns, 0);
		left_out = 0;
		if (way & RUNS && s->count && s->tokens[s->count - 1] == k->token) {
			s->end_ns[s->count - 1] = k->ts_ns + k->dur_ns;
			continue;
		}
		add(s, k->token, k->name, k->ts_ns, k->dur_ns);
		if (k->is_before_pause && way & PAUSES)
			add(s, PAUSE | k->token, k->name, k->ts_ns + k->dur_ns, 0);
	}
	return 0;
}

/* A loop in a part of the sequence; indexes are those of the whole. */
struct loop {
	struct stats_repeats r;
	int64_t ns;    /* total of its iterations, the last as long as the others */
	double weight; /* the loop with the largest weight is used: time of similar iterations */
};

/* Returns the token after an iteration. */
static size_t behind(const struct sequence *s, const struct stats_repeats *r, size_t i)
{
	size_t end = r->starts[i] + r->length;

	return end < s->count ? end : s->count;
}

/* Does the next iteration follow immediately? */
static bool is_followed(const struct sequence *s, const struct stats_repeats *r, size_t i)
{
	return i + 1 < r->count && r->starts[i + 1] < behind(s, r, i) + r->length;
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
	found->ns = s->ts_ns[r->starts[r->count - 1]] - s->ts_ns[r->starts[0]];
	found->ns += r->count > 1 ? found->ns / (int64_t)(r->count - 1) : 0;
	found->weight = (double)found->ns * r->confidence;
	return 0;
}

/* Counts the different calls of an iteration, up to a limit. */
static size_t variety(const struct sequence *s, const struct stats_repeats *r)
{
	uint32_t seen[VARIETY_FEW];
	size_t count = 0, at = r->starts[r->count / 2];

	for (size_t i = at; i < at + r->length && i < s->count && count < VARIETY_FEW; i++) {
		size_t k = 0;

		while (k < count && seen[k] != s->tokens[i])
			k++;
		if (k == count && !(s->tokens[i] & PAUSE))
			seen[count++] = s->tokens[i];
	}
	return count;
}

/* Does it contain most of the thread's calls? */
static bool is_most(const struct sequence *s, const struct stats_repeats *r)
{
	return r->count * r->length * 2 >= s->count - s->apart;
}

/* Are there enough different calls and n-grams? Three repetitions, or an alternation, may be chance. */
static bool is_rich(const struct sequence *s, const struct stats_repeats *r)
{
	size_t pieces = r->length < PIECES_FEW ? r->length : PIECES_FEW, kinds = variety(s, r);

	if (r->count <= ITERATIONS_FEW)
		return kinds >= VARIETY_FEW && r->pieces >= pieces && is_most(s, r);
	return !(s->way & RUNS) || kinds >= VARIETY_RUNS;
}

/*
 * A loop is reported if it takes a share of the thread's lifetime and of the run: the fewer iterations, the larger
 * the share, and most of it if they load code.
 */
static bool is_worth(const struct sequence *s, const struct loop *l)
{
	const struct analyze *a = s->of->a;
	double many = is_most(s, &l->r)                    ? OF_LIFE_MOST
			: variety(s, &l->r) == VARIETY_FEW ? OF_LIFE_MANY
							   : OF_LIFE_PLAIN;
	double of_run = s->way & CODE ? OF_LIFE_SOME : many;
	double of_life = l->r.count <= ITERATIONS_FEW  ? OF_LIFE_FEW
			: l->r.count < ITERATIONS_MANY ? OF_LIFE_SOME
						       : of_run;

	return l->r.confidence >= CONFIDENCE_MIN && (double)l->ns >= of_life * (double)s->of->life_ns &&
			(double)l->ns >= of_run * (double)(a->end_ns - a->start_ns) && is_rich(s, &l->r);
}

/* Finds the loop with the largest weight. Skips parts that are too short to hold a longer one. */
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
		if (to - from < TOKENS_MIN || (double)(s->end_ns[to - 1] - s->ts_ns[from]) <= best->weight)
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
		if (is_worth(s, &l) && l.weight > best->weight) {
			stats_repeats_release(&best->r);
			*best = l;
		} else {
			stats_repeats_release(&l.r);
		}
	}
	return rc;
}

/* Returns the name of a loop: the first call or span of an iteration. NULL: out of memory. */
static const char *name_of(struct analyze *a, const struct sequence *s, size_t at)
{
	struct store_text text = { .data = NULL };

	while (at + 1 < s->count && s->tokens[at] & PAUSE)
		at++;
	if (s->of->labels.count)
		text.data = map_key(&s->of->labels, (size_t)s->names[at], &text.bytes);
	else if (model_name(a->run, s->names[at]))
		text = *model_name(a->run, s->names[at]);
	return arena_copy(&a->arena, text.data ? text.data : "", text.bytes);
}

static int keep(struct analyze *a, const struct sequence *s, const struct loop *l, struct detected *d)
{
	const struct stats_repeats *r = &l->r;
	int64_t longest_ns = 0, ns;

	d->from_ns = arena_alloc(&a->arena, (r->count + 1) * sizeof(*d->from_ns));
	d->dur_ns = arena_alloc(&a->arena, (r->count + 1) * sizeof(*d->dur_ns));
	if (!d->from_ns || !d->dur_ns)
		return -ENOMEM;
	/* An iteration lasts until the next; one without a successor as its tokens, no longer than the others. */
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
	d->where = s->of->stream->name;
	d->weight = l->weight;
	d->tid = s->of->tid;
	d->name = name_of(a, s, r->anchor > r->starts[0] ? r->anchor : r->starts[0]);
	d->confidence = r->confidence;
	d->count = r->count;
	return d->name ? 0 : -ENOMEM;
}

static int find(struct analyze *a, const struct detect_tokens *t, unsigned way, struct detected *d)
{
	struct sequence s;
	struct loop best = { .ns = 0 };
	int rc = sequence_init(&s, t, way);

	if (rc == 0 && s.count)
		rc = search(&s, &best);
	if (rc == 0 && best.r.count)
		rc = keep(a, &s, &best, d);
	stats_repeats_release(&best.r);
	free(s.tokens);
	free(s.names);
	free(s.ts_ns);
	free(s.end_ns);
	return rc;
}

static int try_stream(struct analyze *a, const struct detect *d, int stream, struct detected *found,
		struct sonde_err *err)
{
	static const unsigned ways[] = { 0, RUNS, PAUSES, CODE };
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
	t.cap = most < t.stream->max ? most : t.stream->max;
	rc = detect_tokens_read(&t, err);
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways) && rc == 0 && !(ways[i] & CODE && found->count); i++) {
		struct detected one = { .count = 0 };

		rc = find(a, &t, ways[i], &one);
		if (rc == 0 && one.weight > (ways[i] & PAUSES ? PAUSES_MORE : 1) * found->weight)
			*found = one;
	}
	found->tokens = t.count;
	found->is_cut = most > t.cap;
	detect_tokens_release(&t);
	return rc == -ENOMEM ? err_sys(err, ENOMEM, "cannot detect iterations") : rc;
}

/*
 * In a pipeline one program may or may not have exited before the next starts: pauses help only if the same program
 * is started repeatedly. Keeps the longest loop of all processes.
 */
struct outer {
	struct analyze *a;
	struct detected best;
};

static int search_family(void *arg, const struct detect_tokens *t)
{
	struct outer *o = arg;
	struct detected one = { .tokens = t->count };
	int rc = find(o->a, t, 0, &one);

	if (rc == 0 && !one.count)
		rc = find(o->a, t, PAUSES, &one);
	if (rc == 0 && one.weight > o->best.weight)
		o->best = one;
	return rc;
}

int detect_find(struct analyze *a, const struct detect *d, struct detected *found, struct sonde_err *err)
{
	struct outer outer = { .a = a };
	int rc = 0;

	*found = (struct detected){ .count = 0 };
	for (int i = 0; i < DETECT_STREAMS && rc == 0 && !found->count; i++)
		rc = try_stream(a, d, i, found, err);
	if (rc == 0 && detect_families(a, d, search_family, &outer) < 0)
		rc = err_sys(err, ENOMEM, "cannot detect iterations");
	/* A loop inside one program is more informative than the loop of its parent, unless it is only a part of
	 * that. */
	if (rc == 0 && outer.best.weight > OUTER_MORE * found->weight)
		*found = outer.best;
	return rc;
}
