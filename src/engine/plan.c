/* All queries on one table: creating a plan, its workers and results; scanning the table for it. */
#include "engine/plan.h"

#include "engine/group-by.h"

#include <errno.h>
#include <stdlib.h>

/* The state of one thread. */
struct plan_worker {
	struct group_table tables[ENGINE_QUERIES_MAX];
	struct arena arena;
	struct heap heap;
	struct aggregate_memory memory;
	uint32_t *slots, *started; /* of all rows; of those that start in the window */
	int64_t *derived[ENGINE_DERIVED_MAX];
	int64_t *cut[STORE_COLUMNS_MAX]; /* columns of the rows that touch the window */
	int64_t *clipped[2];             /* their start and duration inside it */
};

struct engine_plan {
	const struct store_schema *schema;
	int time, duration; /* columns, or ENGINE_NONE */
	unsigned derive_count, query_count;
	struct engine_derive derives[ENGINE_DERIVED_MAX];
	struct engine_query queries[ENGINE_QUERIES_MAX];
	bool is_needed[ENGINE_COLUMNS_MAX];
	struct plan_worker **workers;
	unsigned worker_count;
	struct engine_groups groups[ENGINE_QUERIES_MAX];
};

static int column_of(const struct store_schema *schema, enum store_semantic semantic)
{
	for (unsigned c = 0; c < schema->count; c++)
		if (schema->columns[c].semantic == semantic)
			return (int)c;
	return ENGINE_NONE;
}

int engine_plan_new(struct engine_plan **out, const struct store_schema *schema, struct sonde_err *err)
{
	struct engine_plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return err_sys(err, ENOMEM, "cannot plan a scan of the table '%s'", schema->name);
	plan->schema = schema;
	plan->time = column_of(schema, STORE_TIME);
	plan->duration = column_of(schema, STORE_DURATION);
	*out = plan;
	return 0;
}

static void worker_free(struct plan_worker *w)
{
	if (!w)
		return;
	for (unsigned q = 0; q < ENGINE_QUERIES_MAX; q++)
		group_table_release(&w->tables[q]);
	aggregate_memory_release(&w->memory);
	heap_release(&w->heap);
	arena_release(&w->arena);
	for (unsigned i = 0; i < ENGINE_DERIVED_MAX; i++)
		free(w->derived[i]);
	for (unsigned i = 0; i < STORE_COLUMNS_MAX; i++)
		free(w->cut[i]);
	for (unsigned i = 0; i < 2; i++)
		free(w->clipped[i]);
	free(w->started);
	free(w->slots);
	free(w);
}

void engine_plan_free(struct engine_plan *plan)
{
	if (!plan)
		return;
	for (unsigned q = 0; q < plan->query_count; q++)
		groups_release(&plan->groups[q]);
	for (unsigned i = 0; i < plan->worker_count; i++)
		worker_free(plan->workers[i]);
	free(plan->workers);
	free(plan);
}

static void need(struct engine_plan *plan, int column)
{
	if (column >= 0)
		plan->is_needed[column] = true;
}

int engine_plan_derive(struct engine_plan *plan, const struct engine_derive *derive)
{
	if (plan->derive_count == ENGINE_DERIVED_MAX)
		return -E2BIG;
	plan->derives[plan->derive_count] = *derive;
	for (unsigned i = 0; i < derive->need_count; i++)
		need(plan, derive->needs[i]);
	return STORE_COLUMNS_MAX + (int)plan->derive_count++;
}

int engine_plan_query(struct engine_plan *plan, const struct engine_query *query)
{
	if (plan->query_count == ENGINE_QUERIES_MAX)
		return -E2BIG;
	plan->queries[plan->query_count] = *query;
	need(plan, query->filter);
	for (unsigned k = 0; k < query->key_count; k++)
		need(plan, query->keys[k]);
	for (unsigned a = 0; a < query->aggregate_count; a++) {
		need(plan, query->aggregates[a].column);
		if (query->aggregates[a].op >= ENGINE_TIME) {
			need(plan, plan->time);
			need(plan, plan->duration);
		}
	}
	return (int)plan->query_count++;
}

bool engine_plan_is_empty(const struct engine_plan *plan)
{
	return plan->query_count == 0;
}

static struct plan_worker *worker_new(const struct engine_plan *plan)
{
	struct plan_worker *w = calloc(1, sizeof(*w));
	bool is_failed;

	if (!w)
		return NULL;
	arena_init(&w->arena);
	heap_init(&w->heap, 0);
	w->memory = (struct aggregate_memory){ .arena = &w->arena, .heap = &w->heap };
	w->slots = calloc(STORE_BLOCK_ROWS, sizeof(*w->slots));
	w->started = calloc(STORE_BLOCK_ROWS, sizeof(*w->started));
	is_failed = !w->slots || !w->started;
	for (unsigned i = 0; i < plan->derive_count && !is_failed; i++) {
		w->derived[i] = aligned_alloc(64, STORE_BLOCK_ROWS * sizeof(int64_t));
		is_failed = !w->derived[i];
	}
	for (unsigned q = 0; q < plan->query_count && !is_failed; q++)
		is_failed = group_table_init(&w->tables[q], &plan->queries[q]) < 0;
	if (!is_failed)
		return w;
	worker_free(w);
	return NULL;
}

/* Create workers until there are at least `count`. */
static int plan_workers(struct engine_plan *plan, unsigned count, size_t cover_bytes)
{
	struct plan_worker **workers = reallocarray(plan->workers, count, sizeof(*workers));

	if (!workers)
		return -ENOMEM;
	plan->workers = workers;
	while (plan->worker_count < count) {
		workers[plan->worker_count] = worker_new(plan);
		if (!workers[plan->worker_count])
			return -ENOMEM;
		plan->worker_count++;
	}
	for (unsigned i = 0; i < plan->worker_count; i++)
		workers[i]->heap.budget_bytes = cover_bytes / plan->worker_count;
	return 0;
}

/* Merge everything into the first worker's tables, then build the results from them. */
int engine_plan_finish(struct engine_plan *plan, struct sonde_err *err)
{
	int rc = plan->worker_count ? 0 : plan_workers(plan, 1, INTERVAL_SET_BYTES);

	for (unsigned q = 0; q < plan->query_count && rc == 0; q++) {
		struct group_table *all = &plan->workers[0]->tables[q];

		for (unsigned i = 1; i < plan->worker_count && rc == 0; i++) {
			rc = group_table_merge(all, &plan->workers[i]->tables[q], &plan->workers[0]->memory);
			group_table_release(&plan->workers[i]->tables[q]);
		}
		if (rc == 0)
			rc = group_table_finish(all, &plan->groups[q]);
	}
	return rc < 0 ? err_sys(err, -rc, "cannot merge the results of '%s'", plan->schema->name) : 0;
}

const struct engine_groups *engine_plan_groups(const struct engine_plan *plan, int query)
{
	return &plan->groups[query];
}

int engine_plan_save(const struct engine_plan *plan, struct buf *out)
{
	int rc = 0;

	pack_text(out, plan->schema->name);
	pack_uint(out, plan->query_count);
	for (unsigned q = 0; q < plan->query_count && rc == 0; q++)
		rc = groups_save(&plan->groups[q], out);
	return rc;
}

int engine_plan_load(struct engine_plan *plan, struct unpack *u, struct sonde_err *err)
{
	int rc = plan->worker_count ? 0 : plan_workers(plan, 1, INTERVAL_SET_BYTES);

	u->is_bad |= !unpack_is_text(u, plan->schema->name);
	u->is_bad |= unpack_uint(u) != plan->query_count;
	for (unsigned q = 0; q < plan->query_count && rc == 0 && !u->is_bad; q++)
		rc = group_table_load(&plan->workers[0]->tables[q], u, &plan->workers[0]->memory);
	if (rc < 0)
		return err_sys(err, -rc, "cannot read a part");
	return u->is_bad ? err_set(err, EBADMSG, "the part is damaged, or of another version of sonde") : 0;
}

struct scanning {
	struct engine_plan *plan;
	const struct engine_run_opts *opts;
};

/* A block as the queries see it: whole values, and the time of each row inside the window. */
struct window_rows {
	struct engine_rows whole;
	const int64_t *ts_ns, *dur_ns; /* clipped to the window; NULL: the table has none */
	bool has_carried;              /* some rows started before the window: they add time and nothing else */
	int64_t from_ns;               /* of the window, if has_carried */
};

/* Queries. */

static struct aggregate_input input_of(const struct window_rows *b, const struct engine_aggregate *a,
		const uint32_t *slots, size_t slot_count)
{
	struct aggregate_input in = { .rows = b->whole.count, .slots = slots, .slot_count = slot_count };

	if (a->column >= 0) {
		in.ints = b->whole.ints[a->column];
		in.reals = b->whole.reals[a->column];
	} else if (a->op == ENGINE_TIME) {
		in.ints = b->dur_ns;
	}
	in.ts_ns = b->ts_ns;
	in.dur_ns = b->dur_ns;
	return in;
}

/* The slots again, without the rows that started before the window. */
static const uint32_t *started_slots(const struct window_rows *b, const int64_t *ts_ns, struct plan_worker *w)
{
	for (size_t i = 0; i < b->whole.count; i++)
		w->started[i] = ts_ns[i] < b->from_ns ? 0 : w->slots[i];
	return w->started;
}

static int answer(const struct engine_plan *plan, struct plan_worker *w, unsigned number, const struct window_rows *b)
{
	const struct engine_query *q = &plan->queries[number];
	struct group_table *t = &w->tables[number];
	const int64_t *keys[ENGINE_KEYS_MAX] = { NULL };
	const uint32_t *started = w->slots;
	int rc;

	for (unsigned k = 0; k < q->key_count; k++)
		keys[k] = b->whole.ints[q->keys[k]];
	rc = t->is_over ? 0 : group_table_assign(t, keys, b->whole.count, w->slots);
	if (rc == 0 && q->filter >= 0)
		group_filter(b->whole.ints[q->filter], b->whole.count, w->slots);
	if (rc == 0 && b->has_carried)
		started = started_slots(b, b->whole.ints[plan->time], w);
	for (unsigned a = 0; a < q->aggregate_count && rc == 0; a++) {
		bool is_time = q->aggregates[a].op >= ENGINE_TIME;
		struct aggregate_input in = input_of(b, &q->aggregates[a], is_time ? w->slots : started, t->count);

		if (!group_table_skips(t, a))
			rc = aggregate_ops[q->aggregates[a].op].add(t->states[a], &in, &w->memory);
	}
	return rc;
}

/* Fill the derived columns of a block, which see clipped times, then run the queries on it. */
static int add_rows(const struct engine_plan *plan, struct plan_worker *w, struct window_rows *b)
{
	struct engine_rows clipped = b->whole;
	int rc = 0;

	if (plan->time >= 0)
		clipped.ints[plan->time] = b->ts_ns;
	if (plan->duration >= 0)
		clipped.ints[plan->duration] = b->dur_ns;
	for (unsigned d = 0; d < plan->derive_count; d++) {
		plan->derives[d].fill(plan->derives[d].arg, &clipped, w->derived[d]);
		clipped.ints[STORE_COLUMNS_MAX + d] = b->whole.ints[STORE_COLUMNS_MAX + d] = w->derived[d];
	}
	for (unsigned q = 0; q < plan->query_count && rc == 0; q++)
		rc = answer(plan, w, q, b);
	return rc;
}

/* Rows without a window. */
static int add_whole(const struct engine_plan *plan, struct plan_worker *w, const struct engine_rows *rows)
{
	struct window_rows b = { .whole = *rows };

	b.ts_ns = plan->time >= 0 ? rows->ints[plan->time] : NULL;
	b.dur_ns = plan->duration >= 0 ? rows->ints[plan->duration] : NULL;
	return add_rows(plan, w, &b);
}

int engine_plan_feed(struct engine_plan *plan, const struct engine_rows *rows)
{
	int rc = plan->worker_count ? 0 : plan_workers(plan, 1, INTERVAL_SET_BYTES);

	return rc < 0 ? rc : add_whole(plan, plan->workers[0], rows);
}

/* Rows of a window. */

static int64_t end_of(int64_t ts_ns, int64_t dur_ns)
{
	int64_t end;

	return dur_ns <= 0 || __builtin_add_overflow(ts_ns, dur_ns, &end) ? dur_ns > 0 ? INT64_MAX : ts_ns : end;
}

static bool touches(const struct engine_run_opts *o, int64_t ts_ns, int64_t dur_ns)
{
	if (ts_ns == STORE_NULL || ts_ns >= o->to_ns)
		return false;
	return ts_ns >= o->from_ns || (!o->is_of_starts && end_of(ts_ns, dur_ns) > o->from_ns);
}

/* A column of the kept rows, in memory of the worker; NULL: out of memory. */
static int64_t *cut_column(int64_t **room, const int64_t *from, const uint32_t *kept, size_t n)
{
	if (!*room)
		*room = calloc(STORE_BLOCK_ROWS, sizeof(**room));
	for (size_t i = 0; *room && i < n; i++)
		(*room)[i] = from[kept[i]];
	return *room;
}

/* The clipped times of the kept rows; whole ones stay in b->whole. */
static int clip(const struct engine_run_opts *o, const struct engine_plan *plan, struct plan_worker *w,
		struct window_rows *b)
{
	const int64_t *ts = b->whole.ints[plan->time],
		      *dur = plan->duration >= 0 ? b->whole.ints[plan->duration] : NULL;

	for (int i = 0; i < 2; i++)
		if (!w->clipped[i] && !(w->clipped[i] = calloc(STORE_BLOCK_ROWS, sizeof(int64_t))))
			return -ENOMEM;
	for (size_t i = 0; i < b->whole.count; i++) {
		int64_t from = ts[i] < o->from_ns ? o->from_ns : ts[i], to = end_of(ts[i], dur ? dur[i] : 0);

		w->clipped[0][i] = from;
		w->clipped[1][i] = dur && dur[i] == STORE_NULL ? STORE_NULL : (to > o->to_ns ? o->to_ns : to) - from;
		b->has_carried |= ts[i] < o->from_ns;
	}
	b->from_ns = o->from_ns;
	b->ts_ns = w->clipped[0];
	b->dur_ns = dur ? w->clipped[1] : NULL;
	return 0;
}

/* Keep the rows that touch the window; w->slots holds their numbers until queries need it. */
static int add_window(const struct scanning *s, struct plan_worker *w, const struct engine_rows *rows)
{
	const struct engine_plan *plan = s->plan;
	const int64_t *ts_ns = rows->ints[plan->time];
	const int64_t *dur_ns = plan->duration >= 0 ? rows->ints[plan->duration] : NULL;
	struct window_rows b = { .whole = { .count = 0 } };
	int rc;

	for (size_t i = 0; i < rows->count; i++)
		if (touches(s->opts, ts_ns[i], dur_ns ? dur_ns[i] : 0))
			w->slots[b.whole.count++] = (uint32_t)i;
	for (unsigned c = 0; c < plan->schema->count; c++) {
		const int64_t *from = rows->ints[c] ? rows->ints[c] : (const int64_t *)rows->reals[c];
		int64_t *to = from ? cut_column(&w->cut[c], from, w->slots, b.whole.count) : NULL;

		if (from && !to)
			return -ENOMEM;
		b.whole.ints[c] = rows->ints[c] ? to : NULL;
		b.whole.reals[c] = rows->reals[c] ? (const double *)to : NULL;
	}
	if (s->opts->is_of_starts)
		return b.whole.count ? add_whole(plan, w, &b.whole) : 0;
	rc = clip(s->opts, plan, w, &b);
	return rc < 0 || !b.whole.count ? rc : add_rows(plan, w, &b);
}

/* Blocks. */

static int add_block(void *arg, unsigned worker, size_t block, const struct store_batch *batch)
{
	struct scanning *s = arg;
	struct plan_worker *w = s->plan->workers[worker];
	struct engine_rows rows = { .count = batch->rows };

	for (unsigned c = 0; c < s->plan->schema->count; c++) {
		rows.ints[c] = batch->columns[c].ints;
		rows.reals[c] = batch->columns[c].reals;
	}
	return s->opts->has_range && s->plan->time >= 0 ? add_window(s, w, &rows) : add_whole(s->plan, w, &rows);
}

static size_t columns_of(const struct engine_plan *plan, bool has_range, int cols[STORE_COLUMNS_MAX])
{
	size_t n = 0;

	for (unsigned c = 0; c < plan->schema->count; c++)
		if (plan->is_needed[c] || (has_range && ((int)c == plan->time || (int)c == plan->duration)))
			cols[n++] = (int)c;
	return n;
}

int engine_plan_run(struct engine_plan *plan, struct store_table *table, const struct engine_run_opts *opts,
		struct sonde_err *err)
{
	struct scanning s = { .plan = plan, .opts = opts };
	int cols[STORE_COLUMNS_MAX];
	struct store_scan_opts scan = {
		.cols = cols,
		.ncols = columns_of(plan, opts->has_range, cols),
		.has_range = opts->has_range,
		.from_ns = opts->from_ns,
		.to_ns = opts->to_ns,
		.threads = opts->threads,
		.part = opts->part.number,
		.parts = opts->part.count,
	};
	int rc = plan_workers(plan, store_scan_workers(table, &scan),
			opts->cover_bytes ? opts->cover_bytes : INTERVAL_SET_BYTES);

	if (rc == 0)
		rc = store_scan(table, &scan, add_block, &s, err);
	return rc == -ENOMEM ? err_sys(err, ENOMEM, "cannot analyse the table '%s'", plan->schema->name) : rc;
}
