/*
 * Statistics of a window: by name, by file and call, by step. The window rule is the engine's (engine/plan.h).
 */
#include <jansson.h>

#include "serve/run-api-private.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "base/vec.h"
#include "engine/call-sums.h"
#include "model/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_DEFAULT 200

/* By name: events of four tables that lanes show, each with its name, and the columns that select its lane. */

static const struct source {
	enum store_table_id table;
	enum model_lane_table lane_table; /* of its names */
	int name, duration;               /* columns; duration -1: instants */
	enum model_lane what;             /* its lanes, by the columns of `lane` */
	int lane[3];                      /* -1: unused */
} sources[] = {
	{ STORE_TABLE_SPAN, MODEL_LANE_SPAN, STORE_SPAN_name, STORE_SPAN_dur_ns, MODEL_LANE_THREAD,
			{ STORE_SPAN_process, STORE_SPAN_tid, -1 } },
	{ STORE_TABLE_IO, MODEL_LANE_CALL, STORE_IO_call, STORE_IO_dur_ns, MODEL_LANE_THREAD,
			{ STORE_IO_process, STORE_IO_tid, -1 } },
	{ STORE_TABLE_MARK, MODEL_LANE_MARK, STORE_MARK_name, -1, MODEL_LANE_MARKS,
			{ STORE_MARK_process, STORE_MARK_tid, -1 } },
	{ STORE_TABLE_GPU, MODEL_LANE_SPAN, STORE_GPU_name, STORE_GPU_dur_ns, MODEL_LANE_GPU,
			{ STORE_GPU_process, STORE_GPU_device, STORE_GPU_queue } },
};

enum { Q_COUNT, Q_TIME, Q_MIN, Q_MAX, Q_WHOLE, Q_ALL };

/* The lanes of a request, by what selects their rows: calls and spans of a thread are chosen at all depths. */
struct lane_id {
	int64_t what, by[3];
};

struct chosen {
	const struct map *lanes; /* NULL: all */
	const struct source *source;
};

static void fill_chosen(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const struct chosen *c = arg;
	struct lane_id last = { .what = -1 };
	bool is_chosen = false;

	for (size_t i = 0; i < rows->count; i++) {
		struct lane_id id = { .what = c->source->what };

		for (int k = 0; k < 3; k++)
			id.by[k] = c->source->lane[k] >= 0 ? rows->ints[c->source->lane[k]][i] : 0;
		/* as model/lanes-fill.c numbers the queues of a device */
		if (id.what == MODEL_LANE_GPU && (id.by[2] <= 0 || id.by[2] >= UINT16_MAX))
			id.by[2] = 0;
		if (memcmp(&id, &last, sizeof(id)) != 0) /* rows of one thread are adjacent */
			is_chosen = map_get(c->lanes, &id, sizeof(id));
		last = id;
		out[i] = is_chosen;
	}
}

static int choose_lanes(const struct run_api *v, const struct run_api_lanes *lanes, struct map *chosen)
{
	size_t count;
	const struct pyramid_lane *all = pyramid_lanes(v->pyramid, &count);

	for (size_t i = 0; i < lanes->count; i++) {
		const struct pyramid_key *key = &all[lanes->numbers[i]].key;
		struct lane_id id = { .what = key->what, .by = { key->process, key->tid, 0 } };

		if (key->what == MODEL_LANE_GPU) {
			id.by[1] = key->name;
			id.by[2] = key->depth;
		}
		if (run_api_has_names(key) && !map_put(chosen, &id, sizeof(id), NULL))
			return -ENOMEM;
	}
	return 0;
}

struct sum {
	uint32_t name;
	uint64_t count;
	int64_t total_ns;
	/* Of the whole durations of events that start in the window; STORE_NULL: there are none. */
	int64_t min_ns, max_ns;
	double whole_ns; /* their sum, for the mean: total_ns / count is none */
};

struct sums {
	struct map numbers; /* name -> index in `at`, from 1 */
	struct sum *at;
	size_t count, cap;
	struct run_api_window w;
};

static struct sum *sum_of(struct sums *s, uint32_t name)
{
	uint64_t *number = map_put_int(&s->numbers, name, NULL);

	if (!number || (!*number && !VEC_GROW(s->at, s->cap, s->count + 1, VEC_MAX)))
		return NULL;
	if (!*number) {
		s->at[s->count] = (struct sum){ .name = name, .min_ns = STORE_NULL, .max_ns = STORE_NULL };
		*number = ++s->count;
	}
	return &s->at[*number - 1];
}

static int add_groups(struct sums *s, const struct source *source, const struct engine_groups *g)
{
	for (size_t i = 0; i < g->count; i++) {
		uint64_t count = engine_count(g, Q_COUNT, i);
		int64_t total_ns = engine_sum(g, Q_TIME, i), min_ns = 0, max_ns = 0;
		struct sum *sum;

		if (!count && !total_ns)
			continue; /* of other lanes */
		sum = sum_of(s, model_lane_name(engine_key(g, i, 0), source->lane_table));
		if (!sum)
			return -ENOMEM;
		if (source->duration >= 0) {
			min_ns = engine_extreme(g, Q_MIN, i);
			max_ns = engine_extreme(g, Q_MAX, i);
		}
		sum->count += count;
		sum->total_ns += total_ns;
		if (min_ns != STORE_NULL && (sum->min_ns == STORE_NULL || min_ns < sum->min_ns))
			sum->min_ns = min_ns;
		sum->max_ns = max_ns > sum->max_ns ? max_ns : sum->max_ns; /* null is the least */
		sum->whole_ns += source->duration >= 0 ? (double)engine_sum(g, Q_WHOLE, i) : 0;
	}
	return 0;
}

/* The caller holds `model`. */
static int sum_source(struct run_api *v, const struct source *source, const struct map *lanes, struct sums *s,
		struct sonde_err *err)
{
	struct chosen chosen = { lanes, source };
	struct engine_derive is_chosen = { .fill = fill_chosen, .arg = &chosen };
	struct engine_query q = { "events", 1, { source->name }, ENGINE_NONE, source->duration >= 0 ? Q_ALL : Q_MIN,
		{ [Q_COUNT] = { ENGINE_COUNT, ENGINE_NONE },
				[Q_TIME] = { ENGINE_TIME, ENGINE_NONE },
				[Q_MIN] = { ENGINE_MIN, source->duration },
				[Q_MAX] = { ENGINE_MAX, source->duration },
				[Q_WHOLE] = { ENGINE_SUM, source->duration } } };
	struct engine_run_opts opts = { .has_range = true, .from_ns = s->w.from_ns, .to_ns = s->w.to_ns };
	struct store_table *table = model_table(v->run, source->table);
	struct engine_plan *plan = NULL;
	int rc = table ? engine_plan_new(&plan, store_schemas[source->table], err) : 0;

	if (!plan)
		return rc;
	for (int k = 0; k < 3 && source->lane[k] >= 0; k++)
		is_chosen.needs[is_chosen.need_count++] = source->lane[k];
	if (lanes)
		q.filter = engine_plan_derive(plan, &is_chosen);
	engine_plan_query(plan, &q);
	rc = engine_plan_run(plan, table, &opts, err);
	if (rc == 0)
		rc = engine_plan_finish(plan, err);
	if (rc == 0 && add_groups(s, source, engine_plan_groups(plan, 0)) < 0)
		rc = err_sys(err, ENOMEM, "cannot sum up the events");
	engine_plan_free(plan);
	return rc;
}

static int by_total(const void *a, const void *b)
{
	const struct sum *x = a, *y = b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	return x->name < y->name ? -1 : x->name > y->name;
}

static void json_known(struct json *j, const char *key, int64_t v)
{
	json_key(j, key);
	if (v == STORE_NULL)
		json_null(j);
	else
		json_int(j, v);
}

static void write_sums(struct run_api *v, struct sums *s, size_t limit, struct buf *out)
{
	struct json j;
	uint64_t events = 0;

	if (s->count)
		qsort(s->at, s->count, sizeof(*s->at), by_total);
	for (size_t i = 0; i < s->count; i++)
		events += s->at[i].count;
	json_init(&j, out, false);
	json_object(&j);
	json_kint(&j, "from_ns", s->w.from_ns - v->start_ns);
	json_kint(&j, "to_ns", s->w.to_ns - v->start_ns);
	json_kuint(&j, "events", events);
	json_kuint(&j, "names", s->count);
	json_key(&j, "rows");
	json_array(&j);
	for (size_t i = 0; i < s->count && i < limit; i++) {
		json_object(&j);
		json_kuint(&j, "name_id", s->at[i].name);
		run_api_json_text(&j, "name", run_api_name(v, s->at[i].name));
		json_kuint(&j, "count", s->at[i].count);
		json_kint(&j, "total_ns", s->at[i].total_ns);
		json_known(&j, "mean_ns",
				s->at[i].count ? (int64_t)(s->at[i].whole_ns / (double)s->at[i].count + 0.5)
					       : STORE_NULL);
		json_known(&j, "min_ns", s->at[i].min_ns);
		json_known(&j, "max_ns", s->at[i].max_ns);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}

/* Arguments from, to, lanes (default: all), limit. */
int run_api_answer_stats(struct run_api *v, const struct run_api_query *q, struct buf *out, struct sonde_err *err)
{
	CLEANUP(cleanup_free) struct run_api_lanes *lanes = calloc(1, sizeof(*lanes));
	CLEANUP(map_release) struct map chosen = MAP_INIT;
	struct sums s = { .numbers = MAP_INIT };
	int64_t limit = ROWS_DEFAULT;
	int rc = lanes ? run_api_query_window(v, q, &s.w, err) : err_sys(err, ENOMEM, "cannot sum up");

	if (rc == 0)
		rc = run_api_query_lanes(v, q, lanes, err);
	if (rc == 0)
		rc = run_api_query_int(q, "limit", 1, VIEW_LIMIT_MAX, &limit, err);
	if (rc == 0 && choose_lanes(v, lanes, &chosen) < 0)
		rc = err_sys(err, ENOMEM, "cannot sum up");
	if (rc < 0)
		return rc;
	pthread_mutex_lock(&v->model);
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources) && rc == 0; i++)
		rc = sum_source(v, &sources[i], lanes->count ? &chosen : NULL, &s, err);
	if (rc == 0)
		write_sums(v, &s, (size_t)limit, out);
	pthread_mutex_unlock(&v->model);
	map_release(&s.numbers);
	free(s.at);
	return rc;
}

/* By call and by file. */

static void write_totals(struct json *j, const char *key, const struct call_sum *totals, size_t count, size_t limit)
{
	json_key(j, key);
	json_array(j);
	for (size_t i = 0; i < count && i < limit; i++) {
		json_object(j);
		run_api_json_text(j, "name", &totals[i].name);
		if (totals[i].category.data)
			run_api_json_text(j, "category", &totals[i].category);
		json_kuint(j, "count", totals[i].calls);
		json_kuint(j, "errors", totals[i].errors);
		json_kuint(j, "bytes", totals[i].bytes);
		json_kint(j, "total_ns", totals[i].total_ns);
		json_end(j);
	}
	json_end(j);
}

/* Arguments from, to, limit. */
int run_api_answer_io(struct run_api *v, const struct run_api_query *q, struct buf *out, struct sonde_err *err)
{
	struct call_sums totals;
	struct engine_run_opts opts = { .has_range = true };
	struct run_api_window w;
	struct json j;
	int64_t limit = ROWS_DEFAULT;
	int rc = run_api_query_window(v, q, &w, err);

	if (rc == 0)
		rc = run_api_query_int(q, "limit", 1, VIEW_LIMIT_MAX, &limit, err);
	if (rc < 0)
		return rc;
	opts.from_ns = w.from_ns;
	opts.to_ns = w.to_ns;
	pthread_mutex_lock(&v->model);
	rc = call_sums_read(&totals, v->run, &opts, err);
	if (rc == 0) {
		json_init(&j, out, false);
		json_object(&j);
		json_kuint(&j, "file_count", totals.path_count);
		write_totals(&j, "calls", totals.calls, totals.call_count, (size_t)limit);
		write_totals(&j, "files", totals.paths, totals.path_count, (size_t)limit);
		json_end(&j);
		call_sums_release(&totals);
	}
	pthread_mutex_unlock(&v->model);
	return rc;
}

static void write_step(struct json *j, const struct run_api *v, const struct store_step *s)
{
	json_array(j);
	json_int(j, s->process == STORE_NULL ? -1 : s->process);
	if (model_name(v->run, s->name))
		json_str(j, model_cname(v->run, s->name));
	else
		json_null(j);
	json_int(j, s->index == STORE_NULL ? -1 : s->index);
	json_int(j, s->ts_ns - v->start_ns);
	json_real(j, s->value);
	json_end(j);
}

/* Arguments from, to, limit: [process, name, index, time, value] of each step, sorted by time. */
int run_api_answer_steps(struct run_api *v, const struct run_api_query *q, struct buf *out, struct sonde_err *err)
{
	struct run_api_window w;
	struct model_rows *rows;
	struct json j;
	const void *row = NULL;
	int64_t limit = VIEW_LIMIT_MAX, count = 0;
	int rc = run_api_query_window(v, q, &w, err);

	if (rc == 0)
		rc = run_api_query_int(q, "limit", 1, VIEW_LIMIT_MAX, &limit, err);
	if (rc < 0)
		return rc;
	struct model_rows_opts opts = { .has_range = true, .from_ns = w.from_ns, .to_ns = w.to_ns };

	pthread_mutex_lock(&v->model);
	rc = model_rows_open(&rows, model_table(v->run, STORE_TABLE_STEP), &opts, err);
	if (rc == 0) {
		json_init(&j, out, false);
		json_object(&j);
		json_key(&j, "steps");
		json_array(&j);
		for (; (rc = model_rows_next(rows, &row, err)) == 0 && row && count < limit; count++)
			write_step(&j, v, row);
		json_end(&j);
		json_kbool(&j, "is_all", !row);
		json_end(&j);
		model_rows_free(rows);
	}
	pthread_mutex_unlock(&v->model);
	return rc;
}
