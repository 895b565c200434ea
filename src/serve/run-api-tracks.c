/*
 * Metadata: the run, its processes and threads with their lanes, and the names of events.
 */
#include <jansson.h>

#include "base/cleanup.h"
#include "model/dimensions.h"
#include "serve/run-api-private.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 4096 /* per request */

static void write_loss(void *arg, const char *sentence)
{
	json_str(arg, sentence);
}

/* Writes the contents of run.json, and values that are not in it. */
int run_api_answer_run(struct run_api *v, const struct run_api_query *q, struct buf *out, struct sonde_err *err)
{
	struct json j;
	char *said;
	int rc;
	size_t count;
	const struct model_table *tables;

	pthread_mutex_lock(&v->model);
	said = json_dumps(model_run_json(v->run), JSON_COMPACT);
	json_init(&j, out, false);
	json_object(&j);
	json_kstr(&j, "path", run_api_path(v));
	json_kint(&j, "duration_ns", v->duration_ns);
	json_kint(&j, "start_mono_ns", v->start_ns);
	json_kbool(&j, "is_growing", v->is_growing);
	json_kuint(&j, "generation", v->generation);
	if (v->other)
		json_kstr(&j, "other", run_api_path(v->other));
	if (v->groups)
		json_kstr(&j, "groups", v->groups);
	json_kbool(&j, "has_sql", true);
	tables = model_tables(v->run, &count);
	json_kobject(&j, "tables");
	for (size_t i = 0; i < count; i++)
		if (tables[i].table)
			json_kuint(&j, tables[i].name, store_table_rows(tables[i].table));
	json_end(&j);
	json_key(&j, "run");
	json_raw(&j, said ? said : "{}", said ? strlen(said) : 2);
	json_karray(&j, "loss");
	rc = model_losses(v->run, write_loss, &j, err);
	json_end(&j);
	json_end(&j);
	pthread_mutex_unlock(&v->model);
	free(said);
	return rc;
}

/* Lanes sorted by process, then by thread; system-wide lanes first. */
struct order {
	const struct pyramid_lane *lane;
	uint32_t number;
};

static int by_owner(const void *a, const void *b)
{
	const struct order *x = a, *y = b;
	const struct pyramid_key *k = &x->lane->key, *l = &y->lane->key;
	int64_t left[] = { k->process, k->tid, k->what, k->depth, x->number };
	int64_t right[] = { l->process, l->tid, l->what, l->depth, y->number };

	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	return 0;
}

/* Writes the row of table `series` of a counter that a probe reads. */
static void write_series(struct json *j, const struct run_api *v, int64_t name)
{
	struct store_table *t = model_table(v->run, STORE_TABLE_SERIES);
	struct store_batch b = STORE_BATCH_INIT;
	bool is_found = false;

	for (size_t block = 0; t && block < store_table_blocks(t) && !is_found; block++) {
		if (store_block_load(t, block, NULL, 0, &b, NULL) < 0)
			continue;
		for (size_t i = 0; i < b.rows && !is_found; i++) {
			if (b.columns[STORE_SERIES_name].ints[i] != name)
				continue;
			run_api_json_text(j, "unit", model_name(v->run, b.columns[STORE_SERIES_unit].ints[i]));
			json_kbool(j, "is_total", b.columns[STORE_SERIES_is_total].ints[i] == 1);
			is_found = true;
		}
	}
	store_batch_release(&b);
}

static void write_lane(struct json *j, const struct run_api *v, const struct order *o)
{
	static const char *const kinds[] = { [MODEL_LANE_THREAD] = "slices",
		[MODEL_LANE_MARKS] = "marks",
		[MODEL_LANE_STEPS] = "steps",
		[MODEL_LANE_COUNTER] = "counter",
		[MODEL_LANE_STATES] = "states",
		[MODEL_LANE_SAMPLES] = "samples",
		[MODEL_LANE_GPU] = "gpu" };
	const struct pyramid_node *root = &o->lane->root;
	uint32_t what = o->lane->key.what;

	json_object(j);
	json_kuint(j, "lane", o->number);
	json_kstr(j, "kind", what < sizeof(kinds) / sizeof(kinds[0]) ? kinds[what] : NULL);
	json_kuint(j, "depth", o->lane->key.depth);
	json_kuint(j, "count", root->count);
	run_api_json_time(j, v, "start_ns", root->start_ns);
	run_api_json_time(j, v, "end_ns", root->end_ns);
	if (o->lane->key.name >= 0)
		run_api_json_text(j, "name", model_name(v->run, o->lane->key.name));
	if (o->lane->key.kind == PYRAMID_POINTS) {
		json_kreal(j, "min", root->min);
		json_kreal(j, "max", root->max);
		write_series(j, v, o->lane->key.name);
	} else {
		json_kint(j, "busy_ns", root->busy_ns);
	}
	json_end(j);
}

static const struct store_thread *find_thread(const struct run_api *v, int64_t process, int64_t tid)
{
	size_t count;
	const struct store_thread *threads = model_threads(v->run, &count);

	for (size_t i = 0; i < count; i++)
		if (threads[i].process == process && threads[i].tid == tid)
			return &threads[i];
	return NULL;
}

static void write_process_facts(struct json *j, const struct run_api *v, const struct store_process *p)
{
	json_kint(j, "pid", p->pid);
	if (p->parent != STORE_NULL)
		json_kint(j, "parent", p->parent);
	run_api_json_text(j, "exe", model_name(v->run, p->exe));
	run_api_json_text(j, "state", model_name(v->run, p->state));
	json_karray(j, "argv");
	for (size_t at = 0; p->argv && at < p->argv->bytes;) {
		size_t n = strnlen(p->argv->data + at, p->argv->bytes - at);

		json_strn(j, p->argv->data + at, n);
		at += n + 1;
	}
	json_end(j);
	run_api_json_time(j, v, "start_ns", p->start_ns);
	run_api_json_time(j, v, "end_ns", p->end_ns);
	if (p->exit_code != STORE_NULL)
		json_kint(j, "exit_code", p->exit_code);
	if (p->exit_signal != STORE_NULL)
		json_kint(j, "exit_signal", p->exit_signal);
}

static void write_process(struct json *j, const struct run_api *v, int64_t number, const struct order *lanes,
		size_t count, size_t *at)
{
	const struct store_process *p = model_process(v->run, number);

	json_object(j);
	if (number >= 0)
		json_kint(j, "process", number);
	if (p)
		write_process_facts(j, v, p);
	json_karray(j, "threads");
	while (*at < count && lanes[*at].lane->key.process == number) {
		const struct pyramid_key *key = &lanes[*at].lane->key;
		int64_t process = key->process, tid = key->tid;
		const struct store_thread *t = find_thread(v, process, tid);

		/* The lanes of one thread; process-wide lanes (tid -1) are written the same way. */
		json_object(j);
		if (tid >= 0)
			json_kint(j, "tid", tid);
		run_api_json_text(j, "name", t ? model_name(v->run, t->name) : NULL);
		json_karray(j, "lanes");
		for (; *at < count && lanes[*at].lane->key.process == process && lanes[*at].lane->key.tid == tid; ++*at)
			if (lanes[*at].lane->root.count)
				write_lane(j, v, &lanes[*at]);
		json_end(j);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

/* Processes without events are included: they ran. */
static void write_processes(struct json *j, const struct run_api *v, const struct order *lanes, size_t lane_count)
{
	size_t count, at = 0;
	const struct store_process *processes = model_processes(v->run, &count);

	for (size_t i = 0; i < count; i++) {
		while (at < lane_count && lanes[at].lane->key.process < processes[i].process)
			write_process(j, v, lanes[at].lane->key.process, lanes, lane_count, &at);
		write_process(j, v, processes[i].process, lanes, lane_count, &at);
	}
	while (at < lane_count)
		write_process(j, v, lanes[at].lane->key.process, lanes, lane_count, &at);
}

int run_api_answer_tracks(struct run_api *v, const struct run_api_query *q, struct buf *out, struct sonde_err *err)
{
	size_t count;
	const struct pyramid_lane *lanes = pyramid_lanes(v->pyramid, &count);
	CLEANUP(cleanup_free) struct order *order = calloc(count + 1, sizeof(*order));
	struct json j;

	if (!order)
		return err_sys(err, ENOMEM, "cannot list the tracks");
	for (size_t i = 0; i < count; i++)
		order[i] = (struct order){ &lanes[i], (uint32_t)i };
	qsort(order, count, sizeof(*order), by_owner);
	pthread_mutex_lock(&v->model);
	json_init(&j, out, false);
	json_object(&j);
	json_kint(&j, "duration_ns", v->duration_ns);
	json_kuint(&j, "generation", v->generation);
	json_karray(&j, "processes");
	write_processes(&j, v, order, count);
	json_end(&j);
	json_end(&j);
	pthread_mutex_unlock(&v->model);
	return 0;
}

static void write_name(struct json *j, const struct run_api *v, uint32_t name)
{
	static const char *const tables[] = { [MODEL_LANE_SPAN] = "span",
		[MODEL_LANE_CALL] = "call",
		[MODEL_LANE_MARK] = "mark",
		[MODEL_LANE_STATE] = "state" };
	const struct model_call *call = model_lane_table(name) == MODEL_LANE_CALL
			? model_call(v->run, model_lane_string(name))
			: NULL;

	json_array(j);
	json_uint(j, name);
	const struct store_text *text = run_api_name(v, name);
	if (text)
		json_strn(j, text->data, text->bytes);
	else
		json_null(j);
	json_str(j, tables[model_lane_table(name)]);
	if (call && call->category)
		json_strn(j, call->category->data, call->category->bytes);
	json_end(j);
}

void run_api_write_names(struct run_api *v, const struct map *names, struct buf *out)
{
	struct json j;

	json_init(&j, out, false);
	json_array(&j);
	pthread_mutex_lock(&v->model);
	for (size_t i = 0; i < names->count; i++) {
		size_t bytes;
		uint64_t name;

		memcpy(&name, map_key(names, i, &bytes), sizeof(name));
		write_name(&j, v, (uint32_t)name);
	}
	pthread_mutex_unlock(&v->model);
	json_end(&j);
}

/* ids=4,9: [id, text, table, category] of each. */
int run_api_answer_names(struct run_api *v, const struct run_api_query *q, struct buf *out, struct sonde_err *err)
{
	const char *at = q->get(q->arg, "ids");
	struct json j;
	int rc = 0;

	json_init(&j, out, false);
	json_array(&j);
	pthread_mutex_lock(&v->model);
	for (size_t count = 0; at && *at && rc == 0; count++) {
		char *end;
		unsigned long id = strtoul(at, &end, 10);

		if (end == at || (*end && *end != ',') || id > UINT32_MAX || count == NAMES_MAX) {
			rc = err_set(err, EINVAL, "'ids' must be at most %d numbers with commas between", NAMES_MAX);
			break;
		}
		write_name(&j, v, (uint32_t)id);
		at = *end ? end + 1 : end;
	}
	pthread_mutex_unlock(&v->model);
	json_end(&j);
	return rc;
}

/*
 * Counters as the page plots them: [time, min, max, mean] per bin, and the points before and after the window, since
 * a value holds until the next one.
 */

struct plot {
	struct json *j;
	const struct run_api *v;
	int64_t from_ns, bin_ns;
	int64_t bin; /* -1: none */
	int64_t start_ns;
	uint64_t count;
	double min, max, sum;
};

static void flush_bin(struct plot *p)
{
	if (p->bin < 0)
		return;
	json_array(p->j);
	json_int(p->j, p->start_ns - p->v->start_ns);
	json_real(p->j, p->min);
	json_real(p->j, p->max);
	json_real(p->j, p->sum / (double)p->count);
	json_end(p->j);
	p->bin = -1;
}

static void gather_values(struct plot *p, int64_t ts_ns, const struct pyramid_node *n)
{
	int64_t bin = ts_ns <= p->from_ns ? 0 : (ts_ns - p->from_ns) / p->bin_ns;

	if (bin != p->bin) {
		flush_bin(p);
		*p = (struct plot){ p->j, p->v, p->from_ns, p->bin_ns, bin, ts_ns < p->from_ns ? p->from_ns : ts_ns, 0,
			n->min, n->max, 0 };
	}
	p->count += n->count;
	p->sum += n->sum;
	p->min = n->min < p->min ? n->min : p->min;
	p->max = n->max > p->max ? n->max : p->max;
}

static int on_values(void *arg, const struct pyramid_node *node)
{
	gather_values(arg, node->start_ns, node);
	return 0;
}

static int on_point(void *arg, const struct pyramid_point *point)
{
	struct pyramid_node one = { .count = 1, .min = point->value, .max = point->value, .sum = point->value };

	gather_values(arg, point->ts_ns, &one);
	return 0;
}

/* Writes the last point before or the first point after the window, if it exists. */
static int add_beside(const struct plot *p, uint32_t lane, int64_t ts_ns, bool is_before)
{
	struct pyramid_point point;
	int rc = pyramid_point_beside(p->v->pyramid, lane, ts_ns, is_before, &point);

	if (rc <= 0)
		return rc;
	json_array(p->j);
	json_int(p->j, point.ts_ns - p->v->start_ns);
	for (int i = 0; i < 3; i++)
		json_real(p->j, point.value);
	json_end(p->j);
	return 0;
}

static int add_lane(struct plot *p, uint32_t lane, const struct run_api_window *w)
{
	struct pyramid_visit visit = { .from_ns = w->from_ns,
		.to_ns = w->to_ns,
		.resolution_ns = p->bin_ns,
		.arg = p,
		.node = on_values,
		.point = on_point };
	size_t count;
	int rc;

	if (pyramid_lanes(p->v->pyramid, &count)[lane].key.kind != PYRAMID_POINTS)
		return 0;
	rc = add_beside(p, lane, w->from_ns, true);
	if (rc == 0)
		rc = pyramid_visit(p->v->pyramid, lane, &visit);
	flush_bin(p);
	return rc < 0 ? rc : add_beside(p, lane, w->to_ns, false);
}

int run_api_answer_counters(struct run_api *v, const struct run_api_query *q, struct buf *out, struct sonde_err *err)
{
	struct run_api_window w;
	struct run_api_lanes lanes;
	struct json j;
	int64_t bin_ns;
	int rc = run_api_query_bins(v, q, &w, &bin_ns, err);

	if (rc == 0)
		rc = run_api_query_lanes(v, q, &lanes, err);
	if (rc < 0)
		return rc;
	json_init(&j, out, false);
	json_array(&j);
	for (size_t i = 0; i < lanes.count && rc == 0; i++) {
		struct plot p = { .j = &j, .v = v, .from_ns = w.from_ns, .bin_ns = bin_ns, .bin = -1 };

		json_object(&j);
		json_kuint(&j, "lane", lanes.numbers[i]);
		json_karray(&j, "points");
		rc = add_lane(&p, lanes.numbers[i], &w);
		json_end(&j);
		json_end(&j);
	}
	json_end(&j);
	return rc < 0 ? err_set(err, EBADMSG, "the pyramid is damaged: 'sonde clean' removes it") : 0;
}
