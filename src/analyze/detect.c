/* Iterations in streams of spans and calls; see detect.h. */
#include "analyze/detect.h"

#include "stats/repeats.h"

#include <errno.h>
#include <stdlib.h>

#define TOKENS_MIN 12
#define ITERATIONS_MANY 8
#define ITERATIONS_FEW 4 /* what comes three times may be chance: start-up code is full of it */

static const struct {
	const char *name;
	enum store_table_id table;
	int ts, tid, token; /* columns */
} streams[DETECT_STREAMS] = {
	{ "span", STORE_TABLE_SPAN, STORE_SPAN_ts_ns, STORE_SPAN_tid, STORE_SPAN_name },
	{ "io", STORE_TABLE_IO, STORE_IO_ts_ns, STORE_IO_tid, STORE_IO_call },
};

void detect_plan(struct analyze *a, struct detect *d)
{
	for (int i = 0; i < DETECT_STREAMS; i++) {
		struct engine_query q = { "rows by thread", 1, { streams[i].tid }, ENGINE_NONE, 1,
			{ { ENGINE_COUNT, ENGINE_NONE } } };

		d->by_thread[i] = analyze_query(a, streams[i].table, &q);
	}
}

/* Rows of one thread. */

struct token {
	int64_t ts_ns, name;
};

struct taking {
	const struct analyze *a;
	int stream;
	int64_t tid;
	struct token *tokens;
	size_t count, cap;
};

static int take(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct taking *t = arg;
	const int64_t *ts = b->columns[streams[t->stream].ts].ints, *tid = b->columns[streams[t->stream].tid].ints;
	const int64_t *name = b->columns[streams[t->stream].token].ints;
	const struct analyze_opts *o = &t->a->opts;

	(void)worker, (void)block;
	for (size_t i = 0; i < b->rows; i++) {
		if (tid[i] != t->tid || ts[i] == STORE_NULL ||
				(o->has_range && (ts[i] < o->from_ns || ts[i] >= o->to_ns)))
			continue;
		if (t->count == t->cap)
			return 1;
		t->tokens[t->count++] = (struct token){ ts[i], name[i] };
	}
	return 0;
}

static int by_time(const void *a, const void *b)
{
	const struct token *x = a, *y = b;

	return (x->ts_ns > y->ts_ns) - (x->ts_ns < y->ts_ns);
}

static bool is_sorted(const struct taking *t)
{
	for (size_t i = 1; i < t->count; i++)
		if (t->tokens[i].ts_ns < t->tokens[i - 1].ts_ns)
			return false;
	return true;
}

static int read_thread(struct taking *t, bool *is_cut, struct sonde_err *err)
{
	int cols[] = { streams[t->stream].ts, streams[t->stream].tid, streams[t->stream].token };
	struct store_scan_opts opts = { .cols = cols,
		.ncols = 3,
		.threads = 1,
		.has_range = t->a->opts.has_range,
		.from_ns = t->a->opts.from_ns,
		.to_ns = t->a->opts.to_ns };
	int rc = store_scan(model_table(t->a->run, streams[t->stream].table), &opts, take, t, err);

	*is_cut = rc > 0;
	if (rc >= 0 && t->count > 1 && !is_sorted(t))
		qsort(t->tokens, t->count, sizeof(*t->tokens), by_time);
	return rc < 0 ? rc : 0;
}

/* Looking for a loop. */

static int keep(struct analyze *a, const struct taking *t, const struct stats_repeats *r, struct detected *d)
{
	d->from_ns = arena_alloc(&a->arena, (r->count + 1) * sizeof(*d->from_ns));
	d->dur_ns = arena_alloc(&a->arena, (r->count + 1) * sizeof(*d->dur_ns));
	if (!d->from_ns || !d->dur_ns)
		return -ENOMEM;
	for (size_t i = 0; i < r->count; i++) {
		size_t end = r->starts[i] + r->length;

		/* A pause between iterations is part of neither. */
		if (i + 1 < r->count && r->starts[i + 1] < end + r->length)
			end = r->starts[i + 1];
		end = end < t->count ? end : t->count - 1;
		d->from_ns[i] = t->tokens[r->starts[i]].ts_ns;
		d->dur_ns[i] = t->tokens[end].ts_ns - d->from_ns[i];
	}
	d->stream = streams[t->stream].name;
	d->tid = t->tid;
	d->name = t->tokens[r->anchor].name;
	d->confidence = r->confidence;
	d->count = r->count;
	return 0;
}

/* A loop is worth a word when it is long: most of what the thread does, or many iterations and a part of it. */
static bool is_worth(const struct taking *t, const struct stats_repeats *r)
{
	bool is_many = r->count >= ITERATIONS_MANY, has_tokens, has_time;
	size_t last = r->starts[r->count - 1] + r->length;
	double all_ns = (double)(t->tokens[t->count - 1].ts_ns - t->tokens[0].ts_ns), loop_ns;

	last = last < t->count ? last : t->count - 1;
	loop_ns = (double)(t->tokens[last].ts_ns - t->tokens[r->starts[0]].ts_ns);
	has_tokens = (double)(r->count * r->length) >= (is_many ? 0.05 : 0.5) * (double)t->count;
	has_time = loop_ns >= (is_many ? 0.2 : 0.8) * all_ns;
	if (r->confidence < 0.5)
		return false;
	return r->count <= ITERATIONS_FEW ? has_tokens && has_time : has_tokens || has_time;
}

static int look(struct analyze *a, struct taking *t, struct detected *d)
{
	uint32_t *tokens = calloc(t->count + 1, sizeof(*tokens));
	struct stats_repeats r = { .count = 0 };
	int rc = tokens ? 0 : -ENOMEM;

	for (size_t i = 0; i < t->count && rc == 0; i++)
		tokens[i] = (uint32_t)t->tokens[i].name;
	if (rc == 0)
		rc = stats_repeats_find(&r, tokens, t->count);
	if (rc == 0 && r.count && is_worth(t, &r))
		rc = keep(a, t, &r, d);
	stats_repeats_release(&r);
	free(tokens);
	return rc;
}

static int try_stream(struct analyze *a, const struct detect *d, int stream, struct detected *found,
		struct sonde_err *err)
{
	const struct engine_groups *g = analyze_groups(a, streams[stream].table, d->by_thread[stream]);
	struct taking t = { .a = a, .stream = stream };
	uint64_t most = 0;
	bool is_cut;
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
	t.tokens = calloc(t.cap, sizeof(*t.tokens));
	rc = t.tokens ? read_thread(&t, &is_cut, err) : -ENOMEM;
	if (rc == 0)
		rc = look(a, &t, found);
	found->tokens = t.count;
	found->is_cut = most > t.cap;
	free(t.tokens);
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
