#include "analyze/selftime.h"

#include "base/map.h"
#include "model/rows.h"

#include <errno.h>
#include <stdlib.h>

#define DEPTH_MAX 4096 /* deeper spans count as children of the deepest */

struct open_span {
	int64_t from, to, name, category;
};

struct thread {
	struct open_span *stack;
	uint32_t depth, cap;
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
		if (s->numbers.count > s->cap) {
			size_t cap = s->cap ? 2 * s->cap : 64;
			struct thread *threads = reallocarray(s->threads, cap, sizeof(*threads));

			if (!threads)
				return NULL;
			s->threads = threads;
			s->cap = cap;
		}
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
	if (t->depth == t->cap) {
		uint32_t cap = t->cap ? 2 * t->cap : 8;
		struct open_span *stack = reallocarray(t->stack, cap, sizeof(*stack));

		if (!stack)
			return -ENOMEM;
		t->stack = stack;
		t->cap = cap;
	}
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

static int take_backwards(struct selftime *s, const struct store_batch *b, size_t i)
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
			rc = take_backwards(s, &batch, i);
	}
	store_batch_release(&batch);
	return rc;
}

/* Forwards, in order of starts, longest first. */

static int take_forwards(struct selftime *s, const struct store_span *row)
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
		rc = take_forwards(s, row);
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
static int make_sums(struct selftime *s, struct sonde_err *err)
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
	int rc = make_sums(s, err);

	if (rc == 0)
		rc = read_backwards(s, table, err);
	if (rc != OUT_OF_ORDER)
		return rc;
	reset(s);
	rc = make_sums(s, err);
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

int selftime_feed(struct analyze *a, struct engine_plan *fed, struct sonde_err *err)
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
	return rc == -ENOMEM ? err_sys(err, ENOMEM, "cannot find the time of inner spans") : rc;
}
