/* Regions of a run: by the name of a span or step, and where a counter is high. */
#include "analyze/analyze.h"
#include "analyze/pass.h"
#include "base/vec.h"
#include "model/rows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct region {
	int64_t from_ns, to_ns;
};

/* By name. */

/* The end of each row: start plus duration. */
static void fill_end(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const int *columns = arg;

	for (size_t i = 0; i < rows->count; i++) {
		int64_t dur_ns = columns[1] >= 0 ? rows->ints[columns[1]][i] : 0;

		out[i] = rows->ints[columns[0]][i];
		if (out[i] != STORE_NULL && dur_ns > 0 && __builtin_add_overflow(out[i], dur_ns, &out[i]))
			out[i] = INT64_MAX;
	}
}

/* Columns: start, duration or -1, name. */
static int widen(struct model_run *run, enum store_table_id id, const int columns[3], const char *name,
		struct region *r, struct sonde_err *err)
{
	struct engine_derive end = { .fill = fill_end,
		.arg = columns,
		.need_count = columns[1] >= 0 ? 2 : 1,
		.needs = { columns[0], columns[1] } };
	struct engine_query q = { "range", 1, { columns[2] }, ENGINE_NONE, 2, { { ENGINE_MIN, columns[0] } } };
	struct engine_run_opts opts = { .threads = 0 };
	struct engine_plan *plan;
	int rc = engine_plan_new(&plan, store_schemas[id], err);

	if (rc < 0)
		return rc;
	q.aggregates[1] = (struct engine_aggregate){ ENGINE_MAX, engine_plan_derive(plan, &end) };
	engine_plan_query(plan, &q);
	rc = engine_plan_run(plan, model_table(run, id), &opts, err);
	if (rc == 0)
		rc = engine_plan_finish(plan, err);
	for (size_t i = 0; rc == 0 && i < engine_plan_groups(plan, 0)->count; i++) {
		const struct engine_groups *g = engine_plan_groups(plan, 0);
		const char *found = model_cname(run, engine_key(g, i, 0));
		int64_t from = engine_extreme(g, 0, i), to = engine_extreme(g, 1, i);

		if (!found || strcmp(found, name) != 0 || from == STORE_NULL)
			continue;
		r->from_ns = r->from_ns == STORE_NULL || from < r->from_ns ? from : r->from_ns;
		r->to_ns = r->to_ns == STORE_NULL || to > r->to_ns ? to : r->to_ns;
	}
	engine_plan_free(plan);
	return rc;
}

int analyze_named_range(struct model_run *run, const char *name, int64_t *from_ns, int64_t *to_ns,
		struct sonde_err *err)
{
	static const int span[] = { STORE_SPAN_ts_ns, STORE_SPAN_dur_ns, STORE_SPAN_name };
	static const int step[] = { STORE_STEP_ts_ns, -1, STORE_STEP_name };
	struct region r = { STORE_NULL, STORE_NULL };
	int rc = model_load(run, MODEL_NAMES, err);

	if (rc == 0 && model_table(run, STORE_TABLE_SPAN))
		rc = widen(run, STORE_TABLE_SPAN, span, name, &r, err);
	if (rc == 0 && model_table(run, STORE_TABLE_STEP))
		rc = widen(run, STORE_TABLE_STEP, step, name, &r, err);
	if (rc == 0 && r.from_ns == STORE_NULL) {
		rc = err_set(err, ENOENT, "span or step '%s' not found", name);
		err_hint(err, "a region is the name of a span or step, or two times since the start: 1s,2.5s");
	}
	*from_ns = r.from_ns;
	*to_ns = r.to_ns;
	return rc;
}

/* High-counter regions. */

#define STEADY 3 /* consecutive samples, roughly, that start and end a region */
#define HIGH 0.5 /* share of the maximum */
#define LOW 0.1

struct points {
	struct point {
		int64_t ts_ns;
		double value;
	} * items;
	size_t count, cap;
};

struct wanted {
	const struct model_run *run;
	const char *name;
};

static bool keep(void *arg, const struct store_batch *b, size_t row)
{
	const struct wanted *w = arg;
	const char *name = model_cname(w->run, b->columns[STORE_COUNTER_name].ints[row]);

	return name && strcmp(name, w->name) == 0;
}

static int read_points(struct model_run *run, const char *name, struct points *p, struct sonde_err *err)
{
	struct wanted wanted = { run, name };
	struct model_rows_opts opts = { .keep = keep, .arg = &wanted };
	struct model_rows *rows = NULL;
	const void *row = NULL;
	int rc = model_rows_open(&rows, model_table(run, STORE_TABLE_COUNTER), &opts, err);

	while (rc == 0 && (rc = model_rows_next(rows, &row, err)) == 0 && row) {
		const struct store_counter *c = row;

		if (isnan(c->value))
			continue;
		if (VEC_GROW(p->items, p->cap, p->count + 1, VEC_MAX))
			p->items[p->count++] = (struct point){ c->ts_ns, c->value };
		else
			rc = -ENOMEM;
	}
	model_rows_free(rows);
	return rc == -ENOMEM ? err_sys(err, ENOMEM, "cannot read the counter") : rc;
}

static int on_total(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct wanted *w = arg;

	(void)worker, (void)block;
	for (size_t i = 0; i < b->rows; i++) {
		const char *name = model_cname(w->run, b->columns[STORE_SERIES_name].ints[i]);

		if (name && strcmp(name, w->name) == 0 && b->columns[STORE_SERIES_is_total].ints[i] == 1)
			return 1;
	}
	return 0;
}

/* Is the counter monotonic? */
static bool is_total(struct model_run *run, const char *name)
{
	struct wanted wanted = { run, name };
	struct store_scan_opts opts = { .threads = 1 };
	struct store_table *t = model_table(run, STORE_TABLE_SERIES);

	return t && store_scan(t, &opts, on_total, &wanted, NULL) == 1;
}

static int by_gap(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Returns the median time between samples; unchanged values are not written, so gaps can be longer. 0: unknown. */
static int64_t typical_gap(const struct points *p)
{
	int64_t *gaps = calloc(p->count + 1, sizeof(*gaps)), gap = 0;

	for (size_t i = 1; gaps && i < p->count; i++)
		gaps[i - 1] = p->items[i].ts_ns - p->items[i - 1].ts_ns;
	if (gaps && p->count > 1) {
		qsort(gaps, p->count - 1, sizeof(*gaps), by_gap);
		gap = gaps[(p->count - 1) / 2];
	}
	free(gaps);
	return gap;
}

/* Returns the number of samples that the one at i stands for. */
static int steps_of(const struct points *p, size_t i, int64_t gap)
{
	int64_t ns = i ? p->items[i].ts_ns - p->items[i - 1].ts_ns : 0;

	if (gap <= 0 || ns <= gap + gap / 2)
		return 1;
	return ns / gap > STEADY ? STEADY : (int)(ns / gap);
}

/* Hysteresis: up for each high sample, down for each low one; a region starts where the level began to rise. */
static struct region find(const struct points *p)
{
	struct region best = { 0, 0 }, now = { 0, 0 };
	double most = 0;
	int level = 0;
	bool is_in = false;
	int64_t risen_ns = 0, gap = typical_gap(p);

	for (size_t i = 0; i < p->count; i++)
		most = p->items[i].value > most ? p->items[i].value : most;
	for (size_t i = 0; i < p->count && most > 0; i++) {
		const struct point *at = &p->items[i];

		if (at->value >= HIGH * most) {
			risen_ns = level == 0 ? at->ts_ns : risen_ns;
			level += level < STEADY;
			now.to_ns = at->ts_ns;
		} else if (at->value < LOW * most) {
			level -= steps_of(p, i, gap);
			level = level > 0 ? level : 0;
		}
		if (!is_in && level == STEADY) {
			is_in = true;
			now.from_ns = risen_ns;
		}
		if (is_in && (level == 0 || i + 1 == p->count)) {
			is_in = false;
			best = now.to_ns - now.from_ns > best.to_ns - best.from_ns ? now : best;
		}
	}
	return best;
}

int analyze_spotlight(struct model_run *run, const char *counter, int64_t *from_ns, int64_t *to_ns,
		struct sonde_err *err)
{
	struct points p = { .count = 0 };
	struct region r = { 0, 0 };
	int rc = model_load(run, MODEL_NAMES, err);

	if (rc == 0)
		rc = read_points(run, counter, &p, err);
	if (rc == 0 && !p.count) {
		rc = err_set(err, ENOENT, "counter '%s' not found", counter);
		err_hint(err, "sonde query %.200s 'SELECT DISTINCT name FROM counter'", model_run_path(run));
	}
	if (rc == 0) {
		/* Totals become rates: from the last to the first, since each needs its predecessor. */
		for (size_t i = is_total(run, counter) ? p.count : 0; i-- > 0;) {
			double ns = i ? (double)(p.items[i].ts_ns - p.items[i - 1].ts_ns) : 0;

			p.items[i].value = i && ns > 0 ? (p.items[i].value - p.items[i - 1].value) / ns : 0;
		}
		r = find(&p);
	}
	if (rc == 0 && r.to_ns <= r.from_ns)
		rc = err_set(err, ENOENT, "the counter '%s' has no high region", counter);
	free(p.items);
	*from_ns = r.from_ns;
	*to_ns = r.to_ns;
	return rc;
}
