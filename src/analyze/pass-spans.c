/* Spans: by name and category, with self time. */
#include "analyze/pass.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/rows.h"

#include <errno.h>
#include <stdlib.h>

/*
 * Self time: how much of a span's time is spent in spans inside it.
 *
 * A span's children are the spans of its thread directly inside it. Tables hold a thread's spans in order of their
 * ends, children before parents. Read from the end, one stack per thread gives each span's parent; one pass over the
 * blocks is enough, in memory proportional to threads and depth. A table in another order (merged from several
 * traces) is detected and read again in order of starts, which is slower.
 */
#define DEPTH_MAX 4096 /* deeper spans count as children of the deepest */

struct open_span {
	int64_t from, to, name, category;
};

struct thread {
	struct open_span *stack;
	size_t depth, cap;
	int64_t last_end; /* of the previous row, reading backwards */
};

struct selftime {
	const struct analyze *a;
	struct engine_plan *sums; /* by name and category of the outer span */
	struct map numbers;       /* pid and tid to number */
	struct thread *threads;
	size_t cap;
	int64_t last_pid, last_tid;
	struct thread *last;
	/* rows to add */
	size_t count;
	int64_t *names, *categories, *durs;
};

static struct thread *thread_of(struct selftime *s, int64_t pid, int64_t tid)
{
	int64_t key[2] = { pid, tid };
	uint64_t *number;
	bool is_new;

	if (s->last && s->last_pid == pid && s->last_tid == tid)
		return s->last;
	number = map_put(&s->numbers, key, sizeof(key), &is_new);
	if (!number)
		return NULL;
	if (is_new) {
		*number = s->numbers.count - 1;
		if (!VEC_GROW(s->threads, s->cap, s->numbers.count, VEC_MAX))
			return NULL;
		s->threads[*number] = (struct thread){ .last_end = INT64_MAX };
	}
	s->last = &s->threads[*number];
	s->last_pid = pid;
	s->last_tid = tid;
	return s->last;
}

static int push(struct thread *t, struct open_span span)
{
	if (t->depth == DEPTH_MAX)
		return 0;
	if (!VEC_GROW(t->stack, t->cap, t->depth + 1, DEPTH_MAX))
		return -ENOMEM;
	t->stack[t->depth++] = span;
	return 0;
}

static int feed_rows(struct selftime *s)
{
	struct engine_rows rows = { .count = s->count };
	int rc;

	rows.ints[STORE_SPAN_name] = s->names;
	rows.ints[STORE_SPAN_category] = s->categories;
	rows.ints[STORE_SPAN_dur_ns] = s->durs;
	rc = s->count ? engine_plan_feed(s->sums, &rows) : 0;
	s->count = 0;
	return rc;
}

/* `inner` is a direct child of the thread's innermost open span, if any. */
static int add_inner(struct selftime *s, const struct thread *t, const struct open_span *inner)
{
	if (!t->depth)
		return 0;
	s->names[s->count] = t->stack[t->depth - 1].name;
	s->categories[s->count] = t->stack[t->depth - 1].category;
	s->durs[s->count++] = inner->to - inner->from;
	return s->count == STORE_BLOCK_ROWS ? feed_rows(s) : 0;
}

/* Clips a span to the range; false if it is outside. */
static bool is_seen(const struct analyze *a, struct open_span *span, int64_t ts_ns, int64_t dur_ns)
{
	if (ts_ns == STORE_NULL || dur_ns < 0 || __builtin_add_overflow(ts_ns, dur_ns, &span->to))
		return false;
	span->from = ts_ns;
	if (!a->opts.has_range)
		return true;
	span->from = span->from < a->opts.from_ns ? a->opts.from_ns : span->from;
	span->to = span->to > a->opts.to_ns ? a->opts.to_ns : span->to;
	return span->from <= span->to;
}

/* Backwards, in order of ends. */

#define OUT_OF_ORDER 1

static int add_backwards(struct selftime *s, const struct store_batch *b, size_t i)
{
	struct thread *t = thread_of(s, b->columns[STORE_SPAN_pid].ints[i], b->columns[STORE_SPAN_tid].ints[i]);
	struct open_span span = { .name = b->columns[STORE_SPAN_name].ints[i],
		.category = b->columns[STORE_SPAN_category].ints[i] };
	int rc;

	if (!t)
		return -ENOMEM;
	if (!is_seen(s->a, &span, b->columns[STORE_SPAN_ts_ns].ints[i], b->columns[STORE_SPAN_dur_ns].ints[i]))
		return 0;
	if (span.to > t->last_end)
		return OUT_OF_ORDER;
	t->last_end = span.to;
	while (t->depth && t->stack[t->depth - 1].from > span.from)
		t->depth--;
	rc = add_inner(s, t, &span);
	return rc < 0 ? rc : push(t, span);
}

static int read_backwards(struct selftime *s, struct store_table *table, struct sonde_err *err)
{
	static const int cols[] = { STORE_SPAN_ts_ns, STORE_SPAN_dur_ns, STORE_SPAN_pid, STORE_SPAN_tid,
		STORE_SPAN_name, STORE_SPAN_category };
	struct store_batch batch = STORE_BATCH_INIT;
	int rc = 0;

	for (size_t block = store_table_blocks(table); block-- > 0 && rc == 0;) {
		rc = store_block_load(table, block, cols, sizeof(cols) / sizeof(*cols), &batch, err);
		if (rc == -EBADMSG) {
			rc = 0; /* counted as loss */
			continue;
		}
		for (size_t i = rc < 0 ? 0 : batch.rows; i-- > 0 && rc == 0;)
			rc = add_backwards(s, &batch, i);
	}
	store_batch_release(&batch);
	return rc;
}

/* Forwards, in order of starts, longest first. */

static int add_forwards(struct selftime *s, const struct store_span *row)
{
	struct thread *t = thread_of(s, row->pid, row->tid);
	struct open_span span = { .name = row->name, .category = row->category };
	int rc;

	if (!t)
		return -ENOMEM;
	if (!is_seen(s->a, &span, row->ts_ns, row->dur_ns))
		return 0;
	while (t->depth && t->stack[t->depth - 1].to < span.to)
		t->depth--;
	rc = add_inner(s, t, &span);
	return rc < 0 ? rc : push(t, span);
}

static int read_forwards(struct selftime *s, struct store_table *table, struct sonde_err *err)
{
	struct model_rows_opts opts = { .is_longest_first = true };
	struct model_rows *rows = NULL;
	const void *row = NULL;
	int rc = model_rows_open(&rows, table, &opts, err);

	while (rc == 0 && (rc = model_rows_next(rows, &row, err)) == 0 && row)
		rc = add_forwards(s, row);
	model_rows_free(rows);
	return rc;
}

/* Both directions. */

static void reset(struct selftime *s)
{
	for (size_t i = 0; i < s->numbers.count && i < s->cap; i++)
		free(s->threads[i].stack);
	free(s->threads);
	map_release(&s->numbers);
	s->threads = NULL;
	s->cap = s->count = 0;
	s->last = NULL;
}

/* Results are kept separately until all rows are read: wrong order may be detected late. */
static int create_sums(struct selftime *s, struct sonde_err *err)
{
	struct engine_query q = { "inner", 2, { STORE_SPAN_name, STORE_SPAN_category }, ENGINE_NONE, 1,
		{ { ENGINE_SUM, STORE_SPAN_dur_ns } } };
	int rc;

	engine_plan_free(s->sums);
	s->sums = NULL;
	rc = engine_plan_new(&s->sums, &store_span_schema, err);
	return rc < 0 ? rc : engine_plan_query(s->sums, &q);
}

static int read_spans(struct selftime *s, struct store_table *table, struct sonde_err *err)
{
	int rc = create_sums(s, err);

	if (rc == 0)
		rc = read_backwards(s, table, err);
	if (rc != OUT_OF_ORDER)
		return rc;
	reset(s);
	rc = create_sums(s, err);
	return rc < 0 ? rc : read_forwards(s, table, err);
}

static int hand_over(struct selftime *s, struct engine_plan *fed, struct sonde_err *err)
{
	const struct engine_groups *g = engine_plan_groups(s->sums, 0);
	int rc = feed_rows(s);

	if (rc == 0)
		rc = engine_plan_finish(s->sums, err);
	for (size_t i = 0; i < g->count && rc == 0; i++) {
		struct engine_rows row = { .count = 1 };
		int64_t name = engine_key(g, i, 0), category = engine_key(g, i, 1), sum = engine_sum(g, 0, i);

		row.ints[STORE_SPAN_name] = &name;
		row.ints[STORE_SPAN_category] = &category;
		row.ints[STORE_SPAN_dur_ns] = &sum;
		rc = engine_plan_feed(fed, &row);
	}
	return rc;
}

static int selftime_feed(struct analyze *a, struct engine_plan *fed, struct sonde_err *err)
{
	struct store_table *table = model_table(a->run, STORE_TABLE_SPAN);
	struct selftime s = { .a = a };
	int rc = -ENOMEM;

	if (!table)
		return 0;
	s.names = calloc(STORE_BLOCK_ROWS, sizeof(int64_t));
	s.categories = calloc(STORE_BLOCK_ROWS, sizeof(int64_t));
	s.durs = calloc(STORE_BLOCK_ROWS, sizeof(int64_t));
	if (s.names && s.categories && s.durs)
		rc = read_spans(&s, table, err);
	if (rc == 0)
		rc = hand_over(&s, fed, err);
	reset(&s);
	engine_plan_free(s.sums);
	free(s.names);
	free(s.categories);
	free(s.durs);
	return rc == -ENOMEM ? err_sys(err, ENOMEM, "cannot compute self times") : rc;
}

/* The pass. */

struct spans {
	int by_name, inner;
};

enum { Q_COUNT, Q_DUR, Q_DURS, Q_WHOLE };

static int plan(struct analyze *a, void *state, struct sonde_err *err)
{
	struct spans *s = state;
	struct engine_query by_name = { "spans", 2, { STORE_SPAN_name, STORE_SPAN_category }, ENGINE_NONE, 4,
		{ [Q_COUNT] = { ENGINE_COUNT, ENGINE_NONE },
				[Q_DUR] = { ENGINE_TIME, ENGINE_NONE },
				[Q_DURS] = { ENGINE_QUANTILES, STORE_SPAN_dur_ns },
				[Q_WHOLE] = { ENGINE_SUM, STORE_SPAN_dur_ns } } };
	struct engine_query inner = { "spans inside", 2, { STORE_SPAN_name, STORE_SPAN_category }, ENGINE_NONE, 1,
		{ { ENGINE_SUM, STORE_SPAN_dur_ns } } };

	s->by_name = analyze_query(a, STORE_TABLE_SPAN, &by_name);
	return analyze_fed(a, &inner, &s->inner, err);
}

static int feed(struct analyze *a, void *state, struct sonde_err *err)
{
	return selftime_feed(a, a->fed[((struct spans *)state)->inner], err);
}

static const struct analyze_column columns[] = {
	{ "name", "SPAN", ANALYZE_TEXT },
	{ "category", "CATEGORY", ANALYZE_TEXT },
	{ "count", "COUNT", ANALYZE_COUNT },
	{ "total_ns", "TIME", ANALYZE_NS },
	{ "self_ns", "SELF", ANALYZE_NS },
	{ "min_ns", NULL, ANALYZE_NS },
	{ "median_ns", "MEDIAN", ANALYZE_NS },
	{ "mean_ns", NULL, ANALYZE_REAL },
	{ "p99_ns", "P99", ANALYZE_NS },
	{ "max_ns", "MAX", ANALYZE_NS },
};

/* Both group lists have the same order; spans without inner spans have no group. */
static int64_t inner_ns(const struct engine_groups *inner, int64_t name, int64_t category)
{
	size_t low = 0, high = inner->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int64_t first = engine_key(inner, middle, 0), second = engine_key(inner, middle, 1);

		if (first < name || (first == name && second < category))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == inner->count || engine_key(inner, low, 0) != name || engine_key(inner, low, 1) != category)
		return 0;
	return engine_sum(inner, 0, low);
}

static void cell_quantile(struct analyze_table *t, const struct engine_groups *g, size_t i, double p)
{
	double v = engine_quantile(g, Q_DURS, i, p);

	analyze_cell_int(t, v != v ? STORE_NULL : (int64_t)(v + 0.5));
}

static int finish(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	const struct spans *spans = state;
	const struct engine_groups *g = analyze_groups(a, STORE_TABLE_SPAN, spans->by_name);
	const struct engine_groups *inner = analyze_fed_groups(a, spans->inner);
	struct analyze_rank *ranks;
	struct analyze_table *t;

	(void)err;
	if (!g->count) {
		analyze_absent(s, g->is_over ? "too many different spans" : "no spans were recorded");
		return 0;
	}
	ranks = analyze_ranks(a, g->count);
	t = analyze_table(s, "by_name", "Spans by self time", columns, sizeof(columns) / sizeof(*columns), 0);
	for (size_t i = 0; ranks && i < g->count; i++)
		ranks[i] = (struct analyze_rank){ .weight = engine_sum(g, Q_DUR, i) -
					inner_ns(inner, engine_key(g, i, 0), engine_key(g, i, 1)),
			.index = i };
	analyze_rank(ranks, ranks ? g->count : 0);
	for (size_t i = 0; ranks && i < analyze_top(a, g->count); i++) {
		size_t row = ranks[i].index;
		int64_t name = engine_key(g, row, 0), category = engine_key(g, row, 1);
		int64_t total_ns = engine_sum(g, Q_DUR, row);

		analyze_cell_bytes(t, model_name(a->run, name));
		analyze_cell_bytes(t, model_name(a->run, category));
		analyze_cell_int(t, (int64_t)engine_count(g, Q_COUNT, row));
		analyze_cell_int(t, total_ns);
		analyze_cell_int(t, total_ns - inner_ns(inner, name, category));
		cell_quantile(t, g, row, 0);
		cell_quantile(t, g, row, 0.5);
		analyze_cell_real(t, engine_mean(g, Q_WHOLE, row));
		cell_quantile(t, g, row, 0.99);
		cell_quantile(t, g, row, 1);
	}
	if (t)
		t->all_rows = g->count;
	return 0;
}

const struct analyze_pass analyze_pass_spans = { .key = "spans",
	.title = "Spans",
	.state_bytes = sizeof(struct spans),
	.plan = plan,
	.feed = feed,
	.finish = finish };
