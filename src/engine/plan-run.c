/* Scanning a table for a plan: select rows in range, fill derived columns, assign groups, aggregate. */
#include "engine/plan-private.h"

#include <errno.h>
#include <stdlib.h>

struct scanning {
	struct engine_plan *plan;
	const struct engine_run_opts *opts;
};

/* Queries. */

static struct aggregate_input input_of(const struct engine_plan *plan, const struct engine_rows *rows,
		const struct engine_aggregate *a, const struct plan_worker *w, size_t slot_count)
{
	struct aggregate_input in = { .rows = rows->count, .slots = w->slots, .slot_count = slot_count };

	if (a->column >= 0) {
		in.ints = rows->ints[a->column];
		in.reals = rows->reals[a->column];
	}
	if (a->op >= ENGINE_UNION) {
		in.ts_ns = rows->ints[plan->time];
		in.dur_ns = rows->ints[plan->duration];
	}
	return in;
}

static int answer(const struct engine_plan *plan, struct plan_worker *w, unsigned number,
		const struct engine_rows *rows)
{
	const struct engine_query *q = &plan->queries[number];
	struct group_table *t = &w->tables[number];
	const int64_t *keys[ENGINE_KEYS_MAX] = { NULL };
	int rc;

	for (unsigned k = 0; k < q->key_count; k++)
		keys[k] = rows->ints[q->keys[k]];
	rc = t->is_over ? 0 : group_table_assign(t, keys, rows->count, w->slots);
	if (rc == 0 && q->filter >= 0)
		group_filter(rows->ints[q->filter], rows->count, w->slots);
	for (unsigned a = 0; a < q->aggregate_count && rc == 0; a++) {
		struct aggregate_input in = input_of(plan, rows, &q->aggregates[a], w, t->count);

		if (!group_table_skips(t, a))
			rc = aggregate_ops[q->aggregates[a].op].add(t->states[a], &in, &w->memory);
	}
	return rc;
}

/* Fill the derived columns of a block, then run the queries on it. */
static int add_rows(const struct engine_plan *plan, struct plan_worker *w, struct engine_rows *rows)
{
	int rc = 0;

	for (unsigned d = 0; d < plan->derive_count; d++) {
		plan->derives[d].fill(plan->derives[d].arg, rows, w->derived[d]);
		rows->ints[STORE_COLUMNS_MAX + d] = w->derived[d];
	}
	for (unsigned q = 0; q < plan->query_count && rc == 0; q++)
		rc = answer(plan, w, q, rows);
	return rc;
}

int engine_plan_feed(struct engine_plan *plan, const struct engine_rows *rows)
{
	struct engine_rows copy = *rows;
	int rc = plan->worker_count ? 0 : plan_workers(plan, 1, INTERVAL_SET_BYTES);

	return rc < 0 ? rc : add_rows(plan, plan->workers[0], &copy);
}

/* Rows in range. */

static int64_t end_of(int64_t ts_ns, int64_t dur_ns)
{
	int64_t end;

	return dur_ns <= 0 || __builtin_add_overflow(ts_ns, dur_ns, &end) ? dur_ns > 0 ? INT64_MAX : ts_ns : end;
}

static bool touches(const struct engine_run_opts *o, int64_t ts_ns, int64_t dur_ns)
{
	if (ts_ns == STORE_NULL)
		return false;
	return ts_ns < o->to_ns && (ts_ns >= o->from_ns || end_of(ts_ns, dur_ns) > o->from_ns);
}

static size_t keep(const struct engine_run_opts *o, const int64_t *ts_ns, const int64_t *dur_ns, size_t n,
		uint32_t *kept)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++)
		if (touches(o, ts_ns[i], dur_ns ? dur_ns[i] : 0))
			kept[count++] = (uint32_t)i;
	return count;
}

static void cut_times(const struct engine_run_opts *o, int64_t *ts_ns, int64_t *dur_ns, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t from = ts_ns[i], to = end_of(from, dur_ns ? dur_ns[i] : 0);

		ts_ns[i] = from < o->from_ns ? o->from_ns : from;
		if (dur_ns && dur_ns[i] != STORE_NULL)
			dur_ns[i] = (to > o->to_ns ? o->to_ns : to) - ts_ns[i];
	}
}

static int64_t *cut_column(struct plan_worker *w, unsigned c, const int64_t *from, const uint32_t *kept, size_t n)
{
	if (!w->cut[c])
		w->cut[c] = calloc(STORE_BLOCK_ROWS, sizeof(int64_t));
	for (size_t i = 0; w->cut[c] && i < n; i++)
		w->cut[c][i] = from[kept[i]];
	return w->cut[c];
}

/* Select the rows in range and clip their times to it; w->slots holds their numbers until queries need it. */
static int cut(const struct scanning *s, struct plan_worker *w, struct engine_rows *rows)
{
	const struct engine_plan *plan = s->plan;
	const int64_t *dur_ns = plan->duration >= 0 ? rows->ints[plan->duration] : NULL;
	size_t count = keep(s->opts, rows->ints[plan->time], dur_ns, rows->count, w->slots);

	for (unsigned c = 0; c < plan->schema->count; c++) {
		const int64_t *from = rows->ints[c] ? rows->ints[c] : (const int64_t *)rows->reals[c];
		int64_t *to = from ? cut_column(w, c, from, w->slots, count) : NULL;

		if (from && !to)
			return -ENOMEM;
		rows->ints[c] = rows->ints[c] ? to : NULL;
		rows->reals[c] = rows->reals[c] ? (const double *)to : NULL;
	}
	rows->count = count;
	cut_times(s->opts, w->cut[plan->time], dur_ns ? w->cut[plan->duration] : NULL, count);
	return 0;
}

/* Blocks. */

static int add_block(void *arg, unsigned worker, size_t block, const struct store_batch *batch)
{
	struct scanning *s = arg;
	struct plan_worker *w = s->plan->workers[worker];
	struct engine_rows rows = { .count = batch->rows };
	int rc = 0;

	(void)block;
	for (unsigned c = 0; c < s->plan->schema->count; c++) {
		rows.ints[c] = batch->columns[c].ints;
		rows.reals[c] = batch->columns[c].reals;
	}
	if (s->opts->has_range && s->plan->time >= 0)
		rc = cut(s, w, &rows);
	return rc < 0 || !rows.count ? rc : add_rows(s->plan, w, &rows);
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
