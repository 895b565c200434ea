/*
 * One event with all columns of its table, and search for events by name.
 */
#include <jansson.h>

#include "serve/run-api-private.h"

#include "base/cleanup.h"
#include "model/dimensions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SEARCH_DEFAULT 100
#define SEARCH_NAMES_MAX 2000
enum { SAMPLES = 4, COMMANDS }; /* rows of `places` */

/* The slice of a lane that contains an instant, or the nearest one. */
struct nearest {
	int64_t at_ns, distance_ns;
	struct pyramid_slice slice;
};

static int on_near(void *arg, const struct pyramid_slice *s)
{
	struct nearest *n = arg;
	int64_t end_ns, distance_ns = 0;

	if (__builtin_add_overflow(s->start_ns, s->dur_ns, &end_ns))
		end_ns = INT64_MAX;
	if (n->at_ns < s->start_ns)
		distance_ns = s->start_ns - n->at_ns;
	else if (n->at_ns > end_ns)
		distance_ns = n->at_ns - end_ns;
	if (distance_ns < n->distance_ns || (distance_ns == n->distance_ns && s->start_ns <= n->at_ns)) {
		n->distance_ns = distance_ns;
		n->slice = *s;
	}
	return 0;
}

/* Writes a column of a row by its meaning; omits unknown values. */
static void write_column(struct json *j, struct run_api *v, const struct store_column_schema *c, const int64_t *word)
{
	union {
		int64_t bits;
		double real;
		const struct store_text *text;
	} value = { .bits = *word };
	struct store_text path;

	if (c->kind == STORE_TEXT) {
		if (value.text && value.text->data)
			run_api_json_text(j, c->name, value.text);
	} else if (c->kind == STORE_REAL) {
		if (!__builtin_isnan(value.real))
			json_kreal(j, c->name, value.real);
	} else if (value.bits != STORE_NULL) {
		switch (c->semantic) {
		case STORE_TIME:
			run_api_json_time(j, v, c->name, value.bits);
			break;
		case STORE_STRING:
			run_api_json_text(j, c->name, model_name(v->run, value.bits));
			break;
		case STORE_STACK:
			json_key(j, "stack");
			run_api_json_stack(v, j, value.bits);
			break;
		case STORE_FILE:
			path = model_file_path(v->run, value.bits);
			run_api_json_text(j, c->name, &path);
			break;
		default:
			json_kint(j, c->name, value.bits);
		}
	}
}

/* The columns of the tables that slices come from. */
static const struct place {
	enum store_table_id table;
	int ts_ns, process, tid, name;
} places[] = {
	/* indexed by enum model_lane_table, then tables that are not in a thread's lanes */
	[MODEL_LANE_SPAN] = { STORE_TABLE_SPAN, STORE_SPAN_ts_ns, STORE_SPAN_process, STORE_SPAN_tid, STORE_SPAN_name },
	[MODEL_LANE_CALL] = { STORE_TABLE_IO, STORE_IO_ts_ns, STORE_IO_process, STORE_IO_tid, STORE_IO_call },
	[MODEL_LANE_MARK] = { STORE_TABLE_MARK, STORE_MARK_ts_ns, STORE_MARK_process, STORE_MARK_tid, STORE_MARK_name },
	[MODEL_LANE_STATE] = { STORE_TABLE_SCHED, STORE_SCHED_ts_ns, STORE_SCHED_process, STORE_SCHED_tid,
			STORE_SCHED_state },
	[SAMPLES] = { STORE_TABLE_SAMPLE, STORE_SAMPLE_ts_ns, STORE_SAMPLE_process, STORE_SAMPLE_tid,
			STORE_SAMPLE_stack },
	[COMMANDS] = { STORE_TABLE_GPU, STORE_GPU_ts_ns, STORE_GPU_process, STORE_GPU_tid, STORE_GPU_name },
};

struct looking {
	struct json *j;
	struct run_api *v;
	enum store_table_id table;
	const struct place *at;
	int64_t start_ns, process, tid, name;
};

/*
 * Time from the start of the slice to a row: the clock's slack at most (MODEL_LANES_SLACK_NS). -1: not the row of the
 * slice.
 */
static int64_t distance(const struct looking *l, const struct store_batch *b, size_t i)
{
	int64_t ts_ns = b->columns[l->at->ts_ns].ints[i];

	if ((b->columns[l->at->tid].ints[i] != l->tid && l->table != STORE_TABLE_GPU) ||
			b->columns[l->at->process].ints[i] != l->process || b->columns[l->at->name].ints[i] != l->name)
		return -1;
	return ts_ns < l->start_ns || ts_ns - l->start_ns > MODEL_LANES_SLACK_NS ? -1 : ts_ns - l->start_ns;
}

static int on_block(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct looking *l = arg;
	int64_t best = INT64_MAX;
	size_t row = 0;
	const struct store_schema *schema;
	int64_t values[STORE_COLUMNS_MAX];

	for (size_t i = 0; i < b->rows && best; i++) {
		int64_t d = distance(l, b, i);

		if (d >= 0 && d < best) {
			best = d;
			row = i;
		}
	}
	if (best == INT64_MAX)
		return 0;
	schema = store_schemas[l->table];
	store_batch_row(b, row, values);
	for (unsigned c = 0; c < schema->count; c++)
		write_column(l->j, l->v, &schema->columns[c], &values[c]);
	return 1;
}

static int write_event(struct run_api *v, const struct pyramid_key *key, const struct pyramid_slice *s, struct json *j,
		struct sonde_err *err)
{
	struct looking l = { .j = j,
		.v = v,
		.start_ns = s->start_ns,
		.process = key->process,
		.tid = key->tid,
		.name = model_lane_string(s->name) };
	struct store_scan_opts opts = { .has_range = true,
		.from_ns = s->start_ns,
		.to_ns = s->start_ns + MODEL_LANES_SLACK_NS,
		.threads = 1 };
	unsigned table = model_lane_table(s->name);
	int rc = 0;

	if (key->what == MODEL_LANE_STEPS) {
		run_api_json_text(j, "name", model_name(v->run, key->name));
		json_kuint(j, "index", s->name);
		return 0;
	}
	if (key->what == MODEL_LANE_SAMPLES) {
		table = SAMPLES;
		l.name = s->name ? (int64_t)s->name : STORE_NULL;
	}
	if (key->what == MODEL_LANE_GPU)
		table = COMMANDS;
	l.at = &places[table];
	l.table = l.at->table;
	json_kstr(j, "table", store_schemas[l.table]->name);
	if (table != SAMPLES)
		run_api_json_text(j, "title", run_api_name(v, s->name));
	if (model_table(v->run, l.table))
		rc = store_scan(model_table(v->run, l.table), &opts, on_block, &l, err);
	return rc < 0 ? rc : 0;
}

/* Arguments lane, at, within: the event of the lane at that time. */
int run_api_answer_event(struct run_api *v, const struct run_api_query *q, struct buf *out, struct sonde_err *err)
{
	int64_t lane = -1, at = 0, within = 0;
	size_t count;
	const struct pyramid_lane *lanes = pyramid_lanes(v->pyramid, &count);
	int rc = run_api_query_int(q, "lane", 0, (int64_t)count - 1, &lane, err);
	struct json j;

	if (rc == 0)
		rc = run_api_query_int(q, "at", INT64_MIN / 4, INT64_MAX / 4, &at, err);
	if (rc == 0)
		rc = run_api_query_int(q, "within", 0, INT64_MAX / 4, &within, err);
	if (rc == 0 && (lane < 0 || lanes[lane].key.kind != PYRAMID_SLICES))
		rc = err_set(err, EINVAL, "'lane' must be the number of a lane with events");
	if (rc < 0)
		return rc;
	struct nearest n = { .at_ns = v->start_ns + at, .distance_ns = INT64_MAX };
	struct pyramid_visit visit = { .from_ns = n.at_ns - within,
		.to_ns = n.at_ns + within + 1,
		.arg = &n,
		.slice = on_near };

	if (pyramid_visit(v->pyramid, (size_t)lane, &visit) < 0 || n.distance_ns == INT64_MAX)
		return err_set(err, ENOENT, "no event at this time");
	pthread_mutex_lock(&v->model);
	json_init(&j, out, false);
	json_object(&j);
	json_kint(&j, "lane", lane);
	json_kuint(&j, "name_id", n.slice.name);
	run_api_json_time(&j, v, "start_ns", n.slice.start_ns);
	json_kint(&j, "duration_ns", n.slice.dur_ns);
	json_kobject(&j, "row");
	rc = write_event(v, &lanes[lane].key, &n.slice, &j, err);
	json_end(&j);
	json_end(&j);
	pthread_mutex_unlock(&v->model);
	return rc;
}

/* Names that contain a text, as a sorted set and as a bit set. */
struct wanted {
	uint32_t *names;
	size_t count;
	uint64_t bits;
};

static int find_names(struct run_api *v, const char *text, struct wanted *w)
{
	size_t strings = model_name_count(v->run);

	w->names = calloc(SEARCH_NAMES_MAX * 3, sizeof(*w->names));
	if (!w->names)
		return -ENOMEM;
	for (size_t id = 1; id < strings && w->count < (size_t)(SEARCH_NAMES_MAX - 1) * 3; id++) {
		const struct store_text *name = model_name(v->run, (int64_t)id);

		if (!name || !strcasestr(name->data, text))
			continue;
		for (unsigned table = 0; table < 3; table++) {
			uint32_t n = model_lane_name((int64_t)id, (enum model_lane_table)table);

			w->names[w->count++] = n; /* in ascending order */
			w->bits |= pyramid_name_bit(n);
		}
	}
	return 0;
}

static int by_name(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

struct hit {
	struct pyramid_slice slice;
	uint32_t lane;
};

struct hits {
	const struct wanted *wanted;
	struct hit *at;
	size_t count, max, lane_max;
	uint32_t lane;
};

static int on_hit(void *arg, const struct pyramid_slice *s)
{
	struct hits *h = arg;

	if (!bsearch(&s->name, h->wanted->names, h->wanted->count, sizeof(s->name), by_name))
		return 0;
	if (h->count == h->max)
		return 1;
	h->at[h->count++] = (struct hit){ *s, h->lane };
	return h->count == h->lane_max;
}

static int by_start(const void *a, const void *b)
{
	const struct hit *x = a, *y = b;

	if (x->slice.start_ns != y->slice.start_ns)
		return x->slice.start_ns < y->slice.start_ns ? -1 : 1;
	return x->lane < y->lane ? -1 : x->lane > y->lane;
}

/* Finds the first `limit` hits of every lane, then keeps the first `limit` of these. */
static void find_hits(const struct run_api *v, const struct run_api_window *w, struct hits *h, size_t limit)
{
	size_t count;
	const struct pyramid_lane *lanes = pyramid_lanes(v->pyramid, &count);

	for (size_t i = 0; i < count; i++) {
		struct pyramid_visit visit = { .from_ns = w->from_ns,
			.to_ns = w->to_ns,
			.names = h->wanted->bits,
			.arg = h,
			.slice = on_hit };

		if (!run_api_has_names(&lanes[i].key))
			continue;
		h->lane = (uint32_t)i;
		h->lane_max = h->count + limit;
		pyramid_visit(v->pyramid, i, &visit);
		if (h->count > h->max - limit) {
			qsort(h->at, h->count, sizeof(*h->at), by_start);
			h->count = limit;
		}
	}
	qsort(h->at, h->count, sizeof(*h->at), by_start);
}

static void write_hits(struct run_api *v, const struct hits *h, size_t limit, struct buf *out)
{
	struct json j;

	json_init(&j, out, false);
	json_object(&j);
	json_kbool(&j, "is_all", h->count <= limit);
	json_karray(&j, "events");
	for (size_t i = 0; i < h->count && i < limit; i++) {
		json_object(&j);
		json_kuint(&j, "lane", h->at[i].lane);
		json_kuint(&j, "name_id", h->at[i].slice.name);
		run_api_json_text(&j, "name", run_api_name(v, h->at[i].slice.name));
		run_api_json_time(&j, v, "start_ns", h->at[i].slice.start_ns);
		json_kint(&j, "duration_ns", h->at[i].slice.dur_ns);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}

/* Arguments text, from, to, limit: events with the text in their name, sorted by time. */
int run_api_answer_search(struct run_api *v, const struct run_api_query *q, struct buf *out, struct sonde_err *err)
{
	const char *text = q->get(q->arg, "text");
	int64_t limit = SEARCH_DEFAULT;
	struct run_api_window w;
	struct wanted wanted = { .names = NULL };
	struct hits h = { .wanted = &wanted };
	int rc = run_api_query_window(v, q, &w, err);

	if (rc == 0)
		rc = run_api_query_int(q, "limit", 1, VIEW_LIMIT_MAX, &limit, err);
	if (rc == 0 && (!text || !*text))
		rc = err_set(err, EINVAL, "missing search 'text'");
	if (rc < 0)
		return rc;
	h.max = (size_t)(limit + 1) * 3;
	h.at = calloc(h.max, sizeof(*h.at));
	pthread_mutex_lock(&v->model);
	rc = h.at ? find_names(v, text, &wanted) : -ENOMEM;
	if (rc == 0) {
		if (wanted.count)
			find_hits(v, &w, &h, (size_t)limit + 1);
		write_hits(v, &h, (size_t)limit, out);
	}
	pthread_mutex_unlock(&v->model);
	free(wanted.names);
	free(h.at);
	return rc < 0 ? err_sys(err, -rc, "cannot search") : 0;
}
