/* Scanning a table for a plan: select the rows of a window, fill derived columns, assign groups, aggregate. */
#include "engine/plan-private.h"

#include <errno.h>
#include <stdlib.h>

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

	(void)block;
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
