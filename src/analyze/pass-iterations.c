/*
 * Iterations: the time between consecutive steps of the same name in a process; if the program announces no steps,
 * detected iterations (iterations-detect.h).
 */
#include "analyze/iterations-detect.h"
#include "analyze/pass.h"
#include "base/map.h"
#include "model/rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct iterations {
	int by_name;
	struct detect detect;
};

enum { Q_DURS, Q_MOMENTS, Q_PROCESSES };

static int plan(struct analyze *a, void *state, struct sonde_err *err)
{
	struct engine_query by_name = { "iterations", 1, { STORE_SPAN_name }, ENGINE_NONE, 3,
		{ [Q_DURS] = { ENGINE_QUANTILES, STORE_SPAN_dur_ns },
				[Q_MOMENTS] = { ENGINE_MOMENTS, STORE_SPAN_dur_ns },
				[Q_PROCESSES] = { ENGINE_DISTINCT, STORE_SPAN_process } } };

	detect_plan(a, &((struct iterations *)state)->detect);
	return analyze_fed(a, &by_name, &((struct iterations *)state)->by_name, err);
}

/* The previous step, by process, thread and name. */
static int feed_step(struct engine_plan *fed, struct map *before, const struct store_step *row)
{
	int64_t key[3] = { row->process, row->tid, row->name }, dur_ns;
	bool is_new;
	uint64_t *last = map_put(before, key, sizeof(key), &is_new);
	struct engine_rows step = { .count = 1 };

	if (!last)
		return -ENOMEM;
	dur_ns = is_new ? STORE_NULL : (int64_t)((uint64_t)row->ts_ns - *last);
	*last = (uint64_t)row->ts_ns;
	step.ints[STORE_SPAN_name] = &row->name;
	step.ints[STORE_SPAN_dur_ns] = &dur_ns;
	step.ints[STORE_SPAN_process] = &row->process;
	return engine_plan_feed(fed, &step);
}

static int feed(struct analyze *a, void *state, struct sonde_err *err)
{
	struct model_rows_opts opts = { .has_range = a->opts.has_range,
		.from_ns = a->opts.from_ns,
		.to_ns = a->opts.to_ns };
	struct model_rows *rows = NULL;
	struct map before = MAP_INIT;
	const void *row = NULL;
	int rc = model_rows_open(&rows, model_table(a->run, STORE_TABLE_STEP), &opts, err);

	while (rc == 0 && (rc = model_rows_next(rows, &row, err)) == 0 && row)
		rc = feed_step(a->fed[((struct iterations *)state)->by_name], &before, row);
	model_rows_free(rows);
	map_release(&before);
	return rc == -ENOMEM ? err_sys(err, ENOMEM, "cannot read the steps") : rc;
}

static const struct analyze_column columns[] = {
	{ "name", "STEP", ANALYZE_TEXT },
	{ "count", "COUNT", ANALYZE_COUNT },
	{ "processes", NULL, ANALYZE_COUNT },
	{ "mean_ns", NULL, ANALYZE_REAL },
	{ "stddev_ns", NULL, ANALYZE_REAL },
	{ "median_ns", "MEDIAN", ANALYZE_NS },
	{ "min_ns", "MIN", ANALYZE_NS },
	{ "p95_ns", "P95", ANALYZE_NS },
	{ "max_ns", "MAX", ANALYZE_NS },
	{ "per_second", "PER SECOND", ANALYZE_REAL },
};

static void cell_quantile(struct analyze_table *t, const struct engine_groups *g, size_t i, double p)
{
	double v = engine_quantile(g, Q_DURS, i, p);

	analyze_cell_int(t, isnan(v) ? STORE_NULL : (int64_t)(v + 0.5));
}

/* Detected iterations. */

static const struct analyze_column each_columns[] = {
	{ "index", "ITERATION", ANALYZE_COUNT },
	{ "from_ns", "FROM", ANALYZE_NS },
	{ "dur_ns", "TIME", ANALYZE_NS },
};

static int by_length(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void add_found_name(struct analyze *a, struct analyze_section *s, const struct detected *d)
{
	struct analyze_table *t = analyze_table(s, "by_name", "Iterations", columns, sizeof(columns) / sizeof(*columns),
			0);
	int64_t *sorted = arena_alloc(&a->arena, d->count * sizeof(*sorted));
	double mean = 0, squares = 0, n = (double)d->count;

	if (!sorted) {
		a->result.error = -ENOMEM;
		return;
	}
	memcpy(sorted, d->dur_ns, d->count * sizeof(*sorted));
	qsort(sorted, d->count, sizeof(*sorted), by_length);
	for (size_t i = 0; i < d->count; i++)
		mean += (double)sorted[i] / n;
	for (size_t i = 0; i < d->count; i++)
		squares += ((double)sorted[i] - mean) * ((double)sorted[i] - mean);
	analyze_cell_text(t, d->name);
	analyze_cell_int(t, (int64_t)d->count);
	analyze_cell_int(t, 1);
	analyze_cell_real(t, mean);
	analyze_cell_real(t, sqrt(squares / (n - 1)));
	analyze_cell_int(t, sorted[(d->count - 1) / 2]);
	analyze_cell_int(t, sorted[0]);
	analyze_cell_int(t, sorted[(size_t)(0.95 * (n - 1))]);
	analyze_cell_int(t, sorted[d->count - 1]);
	analyze_cell_real(t, mean > 0 ? 1e9 / mean : NAN);
}

static void add_found(struct analyze *a, struct analyze_section *s, const struct detected *d)
{
	size_t each = a->opts.iterations ? a->opts.iterations : analyze_top(a, d->count);
	struct analyze_table *t;

	analyze_text(s, "source", "source", d->where);
	analyze_int(s, "tid", "of thread", ANALYZE_ID, d->tid);
	analyze_int(s, "count", "iterations", ANALYZE_COUNT, (int64_t)d->count);
	analyze_real(s, "confidence", NULL, ANALYZE_RATIO, d->confidence);
	analyze_int(s, "events", NULL, ANALYZE_COUNT, (int64_t)d->tokens);
	analyze_text(s, "note", d->is_cut ? "note" : NULL,
			d->is_cut ? "only the first events of the thread were analyzed" : NULL);
	add_found_name(a, s, d);
	t = analyze_table(s, "each", "Each iteration", each_columns, 3, ANALYZE_DETAIL);
	for (size_t i = 0; i < each && i < d->count; i++) {
		analyze_cell_int(t, (int64_t)i);
		analyze_cell_int(t, d->from_ns[i] - a->start_ns);
		analyze_cell_int(t, d->dur_ns[i]);
	}
	if (t)
		t->all_rows = d->count;
}

static int finish(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	const struct iterations *it = state;
	const struct engine_groups *g = analyze_fed_groups(a, it->by_name);
	struct analyze_table *t;

	if (!g->count) {
		struct detected found;
		int rc = detect_find(a, &it->detect, &found, err);

		if (rc < 0)
			return rc;
		if (found.count)
			add_found(a, s, &found);
		else if (found.tokens)
			analyze_absent(s, "the program announced no steps (sonde_step), and no loop was detected");
		else
			analyze_absent(s, "the program announced no steps (sonde_step)");
		return 0;
	}
	analyze_text(s, "source", NULL, "steps");
	t = analyze_table(s, "by_name", "Iterations", columns, sizeof(columns) / sizeof(*columns), 0);
	for (size_t i = 0; i < analyze_top(a, g->count); i++) {
		double mean_ns = engine_mean(g, Q_MOMENTS, i);

		analyze_cell_bytes(t, model_name(a->run, engine_key(g, i, 0)));
		analyze_cell_int(t, (int64_t)engine_count(g, Q_MOMENTS, i));
		analyze_cell_int(t, (int64_t)engine_distinct(g, Q_PROCESSES, i));
		analyze_cell_real(t, mean_ns);
		analyze_cell_real(t, sqrt(engine_variance(g, Q_MOMENTS, i)));
		cell_quantile(t, g, i, 0.5);
		cell_quantile(t, g, i, 0);
		cell_quantile(t, g, i, 0.95);
		cell_quantile(t, g, i, 1);
		analyze_cell_real(t, mean_ns > 0 ? 1e9 / mean_ns : NAN);
	}
	if (t)
		t->all_rows = g->count;
	return 0;
}

const struct analyze_pass analyze_pass_iterations = { .key = "iterations",
	.title = "Iterations",
	.state_bytes = sizeof(struct iterations),
	.plan = plan,
	.feed = feed,
	.finish = finish };
