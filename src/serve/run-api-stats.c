/*
 * Statistics of a window: by name, by file and call, by step.
 *
 * An event counts if it touches the window; of its duration, the part inside the window counts.
 */
#include <jansson.h>

#include "serve/run-api-private.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "model/dimensions.h"
#include "model/rows.h"
#include "model/totals.h"

#include <errno.h>
#include <stdlib.h>

#define ROWS_DEFAULT 200
#define RECENT 1024 /* entries of the cache in front of the map */

struct sum {
	uint32_t name;
	uint64_t count;
	int64_t total_ns, min_ns, max_ns; /* min and max of the full duration */
};

struct sums {
	struct map numbers; /* name -> index in `at`, from 1 */
	struct sum *at;
	size_t count, cap;
	struct {
		uint32_t name, place; /* index from 1 */
	} recent[RECENT];
	struct run_api_window w;
};

static struct sum *add_sum(struct sums *s, uint32_t name)
{
	if (s->count == s->cap) {
		size_t cap = s->cap ? 2 * s->cap : 64;
		struct sum *at = reallocarray(s->at, cap, sizeof(*at));

		if (!at)
			return NULL;
		s->at = at;
		s->cap = cap;
	}
	s->at[s->count] = (struct sum){ .name = name, .min_ns = INT64_MAX };
	return &s->at[s->count++];
}

static struct sum *sum_of(struct sums *s, uint32_t name)
{
	unsigned slot = name * 2654435761u % RECENT;
	uint64_t *number;

	if (s->recent[slot].name == name && s->recent[slot].place)
		return &s->at[s->recent[slot].place - 1];
	number = map_put_int(&s->numbers, name, NULL);
	if (!number || (!*number && !add_sum(s, name)))
		return NULL;
	if (!*number)
		*number = s->count;
	s->recent[slot].name = name;
	s->recent[slot].place = (uint32_t)*number;
	return &s->at[*number - 1];
}

static int64_t inside(const struct run_api_window *w, const struct pyramid_slice *slice)
{
	int64_t end_ns, start_ns = slice->start_ns > w->from_ns ? slice->start_ns : w->from_ns;

	if (__builtin_add_overflow(slice->start_ns, slice->dur_ns, &end_ns) || end_ns > w->to_ns)
		end_ns = w->to_ns;
	return end_ns > start_ns ? end_ns - start_ns : 0;
}

static int on_slice(void *arg, const struct pyramid_slice *slice)
{
	struct sums *s = arg;
	struct sum *sum = sum_of(s, slice->name);

	if (!sum)
		return -ENOMEM;
	sum->count++;
	sum->total_ns += inside(&s->w, slice);
	sum->min_ns = slice->dur_ns < sum->min_ns ? slice->dur_ns : sum->min_ns;
	sum->max_ns = slice->dur_ns > sum->max_ns ? slice->dur_ns : sum->max_ns;
	return 0;
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
		json_kint(&j, "min_ns", s->at[i].min_ns);
		json_kint(&j, "max_ns", s->at[i].max_ns);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}

static int sum_lanes(const struct run_api *v, const struct run_api_lanes *lanes, struct sums *s)
{
	struct pyramid_visit visit = { .from_ns = s->w.from_ns, .to_ns = s->w.to_ns, .arg = s, .slice = on_slice };
	size_t count;
	const struct pyramid_lane *all = pyramid_lanes(v->pyramid, &count);
	int rc = 0;

	for (size_t i = 0; i < (lanes->count ? lanes->count : count) && rc == 0; i++) {
		size_t lane = lanes->count ? lanes->numbers[i] : i;

		if (run_api_has_names(&all[lane].key))
			rc = pyramid_visit(v->pyramid, lane, &visit);
	}
	return rc;
}

/* Arguments from, to, lanes (default: all), limit. */
int run_api_answer_stats(struct run_api *v, const struct run_api_query *q, struct buf *out, struct sonde_err *err)
{
	CLEANUP(cleanup_free) struct sums *s = calloc(1, sizeof(*s));
	CLEANUP(cleanup_free) struct run_api_lanes *lanes = calloc(1, sizeof(*lanes));
	int64_t limit = ROWS_DEFAULT;
	int rc = s && lanes ? run_api_query_window(v, q, &s->w, err) : err_sys(err, ENOMEM, "cannot sum up");

	if (rc == 0)
		rc = run_api_query_lanes(v, q, lanes, err);
	if (rc == 0)
		rc = run_api_query_int(q, "limit", 1, VIEW_LIMIT_MAX, &limit, err);
	if (rc < 0)
		return rc;
	rc = sum_lanes(v, lanes, s);
	if (rc == 0) {
		pthread_mutex_lock(&v->model);
		write_sums(v, s, (size_t)limit, out);
		pthread_mutex_unlock(&v->model);
	}
	map_release(&s->numbers);
	free(s->at);
	return rc < 0 ? err_sys(err, -rc, "cannot sum up the events") : 0;
}

static void write_totals(struct json *j, const char *key, const struct model_total *totals, size_t count, size_t limit)
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

/* Arguments from, to, limit: calls that begin in the window, by call and by file. */
int run_api_answer_io(struct run_api *v, const struct run_api_query *q, struct buf *out, struct sonde_err *err)
{
	struct model_totals totals;
	struct run_api_window w;
	struct json j;
	int64_t limit = ROWS_DEFAULT;
	int rc = run_api_query_window(v, q, &w, err);

	if (rc == 0)
		rc = run_api_query_int(q, "limit", 1, VIEW_LIMIT_MAX, &limit, err);
	if (rc < 0)
		return rc;
	pthread_mutex_lock(&v->model);
	rc = model_totals_between(v->run, w.from_ns, w.to_ns, &totals, err);
	if (rc == 0) {
		model_sort_by_time(totals.paths, totals.path_count);
		json_init(&j, out, false);
		json_object(&j);
		json_kuint(&j, "file_count", totals.path_count);
		write_totals(&j, "calls", totals.calls, totals.call_count, (size_t)limit);
		write_totals(&j, "files", totals.paths, totals.path_count, (size_t)limit);
		json_end(&j);
		model_totals_release(&totals);
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
