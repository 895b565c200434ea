#include <jansson.h>

#include "analyze/analyze.h"
#include "base/cleanup.h"
#include "model/dimensions.h"
#include "serve/run-api-private.h"
#include "store/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const struct run_api_answer run_api_answers[] = {
	{ "run", NULL, run_api_answer_run },
	{ "tracks", NULL, run_api_answer_tracks },
	{ "names", NULL, run_api_answer_names },
	{ "slices", "application/octet-stream", run_api_answer_slices },
	{ "counters", NULL, run_api_answer_counters },
	{ "event", NULL, run_api_answer_event },
	{ "search", NULL, run_api_answer_search },
	{ "stats", NULL, run_api_answer_stats },
	{ "flame", NULL, run_api_answer_flame },
	{ "io", NULL, run_api_answer_io },
	{ "steps", NULL, run_api_answer_steps },
	{ "summary", NULL, run_api_answer_summary },
	{ "flows", NULL, run_api_answer_flows },
	{ "network", NULL, run_api_answer_network },
	{ NULL, NULL, NULL },
};

const struct run_api_answer *run_api_answer_find(const char *name)
{
	for (const struct run_api_answer *a = run_api_answers; a->name; a++)
		if (strcmp(a->name, name) == 0)
			return a;
	return NULL;
}

/* Returns a fingerprint of the files on disk. */
static uint64_t find_answer(const char *path)
{
	static const char *const names[] = { "run.json", "tables/io.tbl", "tables/span.tbl", "tables/step.tbl",
		"tables/mark.tbl", "tables/counter.tbl", "tables/sched.tbl", "tables/sample.tbl", "tables/gpu.tbl",
		"tables/flow.tbl", "tables/string.tbl", NULL };
	uint64_t seen = 0;

	for (const char *const *name = names; *name; name++) {
		CLEANUP(buf_release) struct buf file = BUF_INIT;
		struct stat st;
		uint64_t facts[2] = { 0 };

		buf_addf(&file, "%s/%s", path, *name);
		if (stat(file.data, &st) == 0) {
			facts[0] = (uint64_t)st.st_size;
			facts[1] = (uint64_t)st.st_mtim.tv_nsec ^ (uint64_t)st.st_ino;
		}
		seen = store_hash(facts, sizeof(facts), seen);
	}
	return seen;
}

/* The last instant that is known from a lane or the recorder. */
static int64_t last_ns(const struct model_run *run, const struct pyramid *p, int64_t start_ns)
{
	int64_t wall_ns = model_run_int(run, "wall_ns"), end_ns = start_ns;
	size_t count;
	const struct pyramid_lane *lanes = pyramid_lanes(p, &count);

	if (wall_ns > 0 && !__builtin_add_overflow(start_ns, wall_ns, &end_ns))
		return end_ns;
	for (size_t i = 0; i < count; i++)
		if (lanes[i].root.count && lanes[i].root.end_ns > end_ns)
			end_ns = lanes[i].root.end_ns;
	return end_ns;
}

static int64_t first_ns(const struct model_run *run, const struct pyramid *p)
{
	int64_t start_ns = model_run_start_ns(run), first = start_ns == STORE_NULL ? INT64_MAX : start_ns;
	size_t count;
	const struct pyramid_lane *lanes = pyramid_lanes(p, &count);

	/* A run without a recorded start begins with its first event. */
	for (size_t i = 0; i < count && start_ns == STORE_NULL; i++)
		if (lanes[i].root.count && lanes[i].root.start_ns < first)
			first = lanes[i].root.start_ns;
	return first == INT64_MAX ? 0 : first;
}

struct opened {
	struct model_run *run;
	struct pyramid *pyramid;
	uint64_t seen;
};

static int open_run(const char *name, struct opened *o, struct sonde_err *err)
{
	int rc = model_run_open(&o->run, name, err);

	if (rc < 0)
		return rc;
	o->seen = find_answer(model_run_path(o->run));
	rc = model_load(o->run, MODEL_ALL, err);
	if (rc == 0)
		rc = model_lanes_open(&o->pyramid, o->run, NULL, err);
	if (rc < 0)
		model_run_free(o->run);
	return rc;
}

static void take(struct run_api *v, const struct opened *o)
{
	model_stacks_free(v->stacks);
	model_run_free(v->run);
	pyramid_free(v->pyramid);
	v->stacks = NULL;
	v->run = o->run;
	v->pyramid = o->pyramid;
	v->seen = o->seen;
	v->start_ns = first_ns(o->run, o->pyramid);
	if (__builtin_sub_overflow(last_ns(o->run, o->pyramid, v->start_ns), v->start_ns, &v->duration_ns))
		v->duration_ns = 0;
	v->is_growing = model_run_is_unfinished(o->run);
	v->generation++;
}

int run_api_open(struct run_api **out, const char *name, struct sonde_err *err)
{
	struct run_api *v = calloc(1, sizeof(*v));
	struct opened o;
	int rc;

	if (!v)
		return err_sys(err, ENOMEM, "cannot open the run");
	rc = open_run(name, &o, err);
	if (rc < 0) {
		free(v);
		return rc;
	}
	pthread_rwlock_init(&v->swap, NULL);
	pthread_mutex_init(&v->model, NULL);
	pthread_mutex_init(&v->summing, NULL);
	pthread_mutex_init(&v->asking, NULL);
	buf_init(&v->summary, 0);
	take(v, &o);
	v->name = strdup(model_run_path(v->run));
	if (!v->name) {
		run_api_free(v);
		return err_sys(err, ENOMEM, "cannot open the run");
	}
	*out = v;
	return 0;
}

void run_api_free(struct run_api *v)
{
	if (!v)
		return;
	run_api_sql_free(v->sql);
	model_stacks_free(v->stacks);
	model_run_free(v->run);
	pyramid_free(v->pyramid);
	pthread_rwlock_destroy(&v->swap);
	pthread_mutex_destroy(&v->model);
	pthread_mutex_destroy(&v->summing);
	pthread_mutex_destroy(&v->asking);
	map_release(&v->functions);
	buf_release(&v->summary);
	free(v->name);
	free(v);
}

void run_api_set_peer(struct run_api *v, const struct run_api *other, const char *groups)
{
	v->other = other;
	v->groups = groups;
}

const char *run_api_path(const struct run_api *v)
{
	return v->name;
}

int64_t run_api_duration_ns(const struct run_api *v)
{
	return v->duration_ns;
}

bool run_api_is_growing(const struct run_api *v)
{
	return v->is_growing;
}

unsigned run_api_generation(const struct run_api *v)
{
	return v->generation;
}

int run_api_refresh(struct run_api *v, bool *is_new, struct sonde_err *err)
{
	struct opened o;
	int rc;

	*is_new = false;
	if (!v->is_growing || find_answer(v->name) == v->seen)
		return 0;
	rc = open_run(v->name, &o, err);
	if (rc < 0)
		return rc;
	pthread_rwlock_wrlock(&v->swap);
	take(v, &o);
	pthread_rwlock_unlock(&v->swap);
	*is_new = true;
	return 0;
}

int run_api_respond(struct run_api *v, const struct run_api_answer *a, const struct run_api_query *q, struct buf *out,
		struct sonde_err *err)
{
	int rc;

	pthread_rwlock_rdlock(&v->swap);
	rc = a->answer(v, q, out, err);
	pthread_rwlock_unlock(&v->swap);
	if (rc == 0 && buf_error(out) < 0)
		rc = err_sys(err, ENOMEM, "cannot answer");
	return rc;
}

/*
 * The summary of a run, as printed by `sonde summary --json` but with more of the detected iterations; computed once
 * per generation.
 *
 * It uses a separate handle of the run, so that other requests do not wait for it.
 */

#define ROWS 100        /* per list */
#define ITERATIONS 4000 /* that the page draws */

static int sum_up(struct model_run *run, struct buf *out, struct sonde_err *err)
{
	struct analyze_opts opts = { .top = ROWS, .iterations = ITERATIONS };
	const struct analyze_result *result;
	struct analyze *a = NULL;
	struct json j;
	int rc = analyze_new(&a, run, &opts, err);

	if (rc == 0)
		rc = analyze_scan(a, err);
	if (rc == 0)
		rc = analyze_finish(a, &result, err);
	if (rc == 0) {
		json_init(&j, out, false);
		json_object(&j);
		analyze_write_json(result, &j);
		json_end(&j);
	}
	analyze_free(a);
	return rc;
}

static int make(struct run_api *v, struct sonde_err *err)
{
	struct model_run *run;
	int rc = model_run_open(&run, v->name, err);

	if (rc < 0)
		return rc;
	buf_reset(&v->summary);
	rc = sum_up(run, &v->summary, err);
	model_run_free(run);
	if (rc == 0)
		v->summed = v->generation;
	return rc;
}

int run_api_answer_summary(struct run_api *v, const struct run_api_query *q, struct buf *out, struct sonde_err *err)
{
	int rc = 0;

	pthread_mutex_lock(&v->summing);
	if (v->summed != v->generation)
		rc = make(v, err);
	if (rc == 0)
		buf_add(out, v->summary.data, v->summary.len);
	pthread_mutex_unlock(&v->summing);
	return rc;
}
