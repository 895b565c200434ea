#include "tune/optimizer.h"

#include <jansson.h>

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/journal.h"
#include "tune/protocol.h"
#include "tune/warp.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MODEL_MIN = 4, EVALUATIONS = 60 };

/* Reads a point of another study: missing parameters keep their defaults, unknown ones are skipped. */
static bool adopt_point(const struct tune_space *space, json_t *params, double *point)
{
	size_t known = 0;

	tune_point_default(space, point);
	for (size_t i = 0; i < space->count; i++) {
		json_t *value = json_object_get(params, space->params[i].name), *one;
		double adopted[TUNE_PARAMS_MAX];

		if (!value)
			continue;
		one = json_pack("{s:O}", space->params[i].name, value);
		if (one && tune_read_params(space, one, adopted, NULL) == 0 && !isnan(adopted[i])) {
			point[i] = adopted[i];
			known++;
		} else if (one && json_is_number(value) && space->params[i].type < TUNE_ORDINAL) {
			point[i] = tune_param_snap(&space->params[i], json_number_value(value));
			known++;
		}
		json_decref(one);
	}
	tune_point_canonical(space, point);
	return known > 0 && tune_point_is_allowed(space, point);
}

/* The best so far, best first. */
struct ranking {
	const struct tune_space *space;
	struct tune_warm_start *e;
	double *costs;
	bool is_maximized;
	json_t *asked; /* parameters of the trials by id */
};

static double *row(const struct ranking *r, size_t i)
{
	return r->e->points + i * r->space->count;
}

static void rank(struct ranking *r, const double *point, double cost)
{
	size_t dims = r->space->count, at;

	for (size_t i = 0; i < r->e->count; i++)
		if (tune_point_equal(r->space, row(r, i), point))
			return;
	if (r->e->count == TUNE_WARM_START_ROWS && cost >= r->costs[r->e->count - 1])
		return;
	at = r->e->count < TUNE_WARM_START_ROWS ? r->e->count++ : TUNE_WARM_START_ROWS - 1;
	for (; at > 0 && r->costs[at - 1] > cost; at--) {
		r->costs[at] = r->costs[at - 1];
		memcpy(row(r, at), row(r, at - 1), dims * sizeof(*point));
	}
	r->costs[at] = cost;
	memcpy(row(r, at), point, dims * sizeof(*point));
}

static void parse_line(struct ranking *r, json_t *line)
{
	char key[32];
	double point[TUNE_PARAMS_MAX];
	json_t *values = json_object_get(line, "values"), *params, *ask = json_object_get(line, "ask");

	snprintf(key, sizeof(key), "%" JSON_INTEGER_FORMAT,
			json_integer_value(ask ? ask : json_object_get(line, "tell")));
	if (ask) {
		json_object_set(r->asked, key, json_object_get(line, "params"));
		return;
	}
	params = json_object_get(r->asked, key);
	if (params && json_is_number(json_array_get(values, 0)) && adopt_point(r->space, params, point)) {
		double value = json_number_value(json_array_get(values, 0));

		rank(r, point, r->is_maximized ? -value : value);
	}
}

static int read_journal(struct ranking *r, const char *path, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc = fs_read_file(AT_FDCWD, path, JOURNAL_BYTES_MAX, &text, err);
	size_t at = 0, size;

	for (const char *line; rc == 0 && (line = journal_line(&text, &at, &size));) {
		json_t *object = json_loadb(line, size, 0, NULL);

		if (json_is_object(object))
			parse_line(r, object);
		json_decref(object);
	}
	return rc;
}

/* Encoded points and standardized costs; the model is fitted once. */
static int fit(struct tune_warm_start *e, const struct tune_space *space, const double *costs, struct arena *arena,
		struct sonde_err *err)
{
	size_t dims = space->count;
	double *x = arena_alloc(arena, e->count * dims * sizeof(*x)),
	       *y = arena_alloc(arena, 2 * e->count * sizeof(*y));
	bool *is_category = arena_alloc(arena, dims * sizeof(*is_category));
	struct stats_gp_data data = { .n = e->count, .dims = dims, .x = x, .y = y, .is_category = is_category };
	struct stats_gp_parameters start = { .noise = -4 };
	struct stats_gp_prior prior;
	struct tune_warp warp;
	int rc;

	if (!x || !y || !is_category)
		return err_sys(err, ENOMEM, "cannot read an earlier study");
	tune_warp_fit(&warp, costs, e->count, y + e->count);
	for (size_t i = 0; i < e->count; i++) {
		y[i] = tune_warp(&warp, costs[i]);
		tune_point_coordinates(space, e->points + i * dims, x + i * dims);
	}
	for (size_t k = 0; k < dims; k++)
		is_category[k] = tune_param_is_category(&space->params[k]);
	stats_gp_prior_usual(&prior, &data);
	memcpy(start.scale, prior.scale_mean, dims * sizeof(*start.scale));
	start.variance = prior.variance_mean;
	start.additive = prior.additive_mean;
	rc = stats_gp_fit(&e->gp, &data, &prior, &start, 1, EVALUATIONS, arena, err);
	e->has_model = rc == 0;
	return rc;
}

int tune_warm_start_read(struct tune_warm_start *e, const char *path, const struct tune_space *space, bool is_maximized,
		struct arena *arena, struct sonde_err *err)
{
	double costs[TUNE_WARM_START_ROWS];
	struct ranking r = { .space = space,
		.e = e,
		.costs = costs,
		.is_maximized = is_maximized,
		.asked = json_object() };
	int rc;

	memset(e, 0, sizeof(*e));
	e->points = arena_alloc(arena, TUNE_WARM_START_ROWS * space->count * sizeof(*e->points));
	rc = e->points && r.asked ? read_journal(&r, path, err) : err_sys(err, ENOMEM, "cannot read '%s'", path);
	json_decref(r.asked);
	return rc == 0 && e->count >= MODEL_MIN ? fit(e, space, costs, arena, err) : rc;
}
