#include "live/control/rules-replay.h"

#include "base/cleanup.h"
#include "base/map.h"
#include "model/dimensions.h"
#include "model/rows.h"
#include "model/run-model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 4096

/* The newest value of a name. */
struct track {
	const char *name;
	double count, value; /* count: only of a step; NaN: none */
	bool is_step, is_programs;
};

struct player {
	const struct replay *replay;
	struct model_run *run;
	struct rules_engine *engine;
	struct track *tracks;
	size_t track_count;
	struct map index;
	const char *app;
	int64_t start_ns, now_ns;
};

static struct track *track_of(struct player *p, int64_t name, bool is_step, bool is_programs)
{
	bool is_new = false;
	uint64_t *at;

	if (p->track_count == NAMES_MAX)
		return NULL;
	at = map_put_int(&p->index, (uint64_t)name << 2 | (uint64_t)is_step << 1 | is_programs, &is_new);
	if (!at)
		return NULL;
	if (is_new) {
		*at = p->track_count;
		p->tracks[p->track_count++] = (struct track){ .name = model_cname(p->run, name),
			.value = NAN,
			.is_step = is_step,
			.is_programs = is_programs };
	}
	return &p->tracks[*at];
}

static void on_step(struct player *p, const void *row)
{
	const struct store_step *s = row;
	struct track *t = track_of(p, s->name, true, true);

	if (!t)
		return;
	t->count++;
	if (!isnan(s->value))
		t->value = s->value;
}

static void on_counter(struct player *p, const void *row)
{
	const struct store_counter *c = row;
	struct track *t = track_of(p, c->name, false, c->process != STORE_NULL);

	if (t)
		t->value = c->value;
}

static int64_t step_ns(const void *row)
{
	return ((const struct store_step *)row)->ts_ns;
}

static int64_t counter_ns(const void *row)
{
	return ((const struct store_counter *)row)->ts_ns;
}

struct feed {
	enum store_table_id table;
	int64_t (*when)(const void *row);
	void (*take)(struct player *, const void *row);
	struct model_rows *rows;
	const void *next;
};

static void tell(struct player *p, const char *who, const char *action, const char *why, double value)
{
	struct replay_event e = { (double)(p->now_ns - p->start_ns) / 1e9, who, action, why, value };

	p->replay->tell(p->replay->arg, &e);
}

static bool act(void *arg, const struct rules_request *r)
{
	tell(arg, r->who, r->action->text, r->why, r->value == r->action->value ? NAN : r->value);
	return true;
}

static void revert(void *arg, const char *who, const char *why)
{
	tell(arg, who, "revert", why, NAN);
}

static void on_event(void *arg, const char *who, const char *what, const char *why)
{
	tell(arg, who, what, why, NAN);
}

static int64_t last_ns(const struct player *p)
{
	int64_t wall = model_run_int(p->run, "wall_ns"), end = model_run_int(p->run, "end_mono_ns");

	return end != STORE_NULL ? end : wall != STORE_NULL ? p->start_ns + wall : INT64_MAX;
}

/* Takes the rows up to now. */
static int take_rows(struct player *p, struct feed *f, struct sonde_err *err)
{
	int rc = 0;

	while (rc == 0 && f->next && f->when(f->next) <= p->now_ns) {
		f->take(p, f->next);
		rc = model_rows_next(f->rows, &f->next, err);
	}
	return rc;
}

/* Adds the newest value of each name to the engine's memory. */
static void sample(struct player *p)
{
	struct memory *m = &p->engine->memory;

	for (size_t i = 0; i < p->track_count; i++) {
		const struct track *t = &p->tracks[i];
		const struct memory_label labels[] = { { "app", p->app }, { "step", t->name } };

		if (t->is_step) {
			memory_add(m, "sonde_steps_total", labels, 2, p->now_ns, t->count);
			memory_add(m, "sonde_step_value", labels, 2, p->now_ns, t->value);
		} else {
			memory_add(m, t->name, labels, t->is_programs ? 1 : 0, p->now_ns, t->value);
		}
	}
}

/* Replays to the end of the run; if that is unknown, to one interval after the last row. */
static int play(struct player *p, struct feed feeds[2], struct sonde_err *err)
{
	const struct rules_ops ops = { p, act, revert, on_event };
	int64_t interval = p->replay->file->interval_ns, real = model_run_int(p->run, "start_real_ns");
	int64_t end = last_ns(p), start_real = real == STORE_NULL ? 0 : real;
	bool is_explained = isnan(p->replay->explain_seconds);
	int rc = 0;

	for (p->now_ns = p->start_ns; rc == 0 && p->now_ns <= end; p->now_ns += interval) {
		bool is_over = !feeds[0].next && !feeds[1].next;
		int64_t since = p->now_ns - p->start_ns;

		for (size_t i = 0; i < 2 && rc == 0; i++)
			rc = take_rows(p, &feeds[i], err);
		sample(p);
		rules_engine_tick(p->engine, p->now_ns, start_real + since, &ops);
		if (!is_explained && (double)since / 1e9 >= p->replay->explain_seconds) {
			rules_engine_explain(p->replay->explained, p->engine, p->now_ns, start_real + since);
			is_explained = true;
		}
		if (is_over && end == INT64_MAX)
			break;
	}
	return rc;
}

static int open_feed(struct player *p, struct feed *f, struct sonde_err *err)
{
	struct model_rows_opts opts = { .has_range = false };
	int rc = model_rows_open(&f->rows, model_table(p->run, f->table), &opts, err);

	return rc < 0 ? rc : model_rows_next(f->rows, &f->next, err);
}

static int play_run(struct player *p, struct sonde_err *err)
{
	struct feed feeds[2] = { { STORE_TABLE_STEP, step_ns, on_step, NULL, NULL },
		{ STORE_TABLE_COUNTER, counter_ns, on_counter, NULL, NULL } };
	const char *name = model_run_str(p->run, "name");
	int rc = model_load(p->run, MODEL_NAMES, err);

	p->app = p->replay->app ? p->replay->app : name ? name : "";
	p->start_ns = model_run_start_ns(p->run);
	if (rc == 0 && p->start_ns == STORE_NULL)
		rc = err_set(err, ENODATA, "the run has no events");
	for (size_t i = 0; i < 2 && rc == 0; i++)
		rc = open_feed(p, &feeds[i], err);
	if (rc == 0)
		rc = play(p, feeds, err);
	for (size_t i = 0; i < 2; i++)
		model_rows_free(feeds[i].rows);
	return rc;
}

int replay_run(const struct replay *r, const char *run, struct sonde_err *err)
{
	struct player p = { .replay = r,
		.engine = malloc(sizeof(*p.engine)),
		.tracks = calloc(NAMES_MAX, sizeof(*p.tracks)),
		.index = MAP_INIT };
	int rc = p.engine && p.tracks ? 0 : err_sys(err, ENOMEM, "cannot replay the run");

	if (rc == 0)
		rc = rules_engine_init(p.engine, r->file, err);
	if (rc == 0) {
		rc = model_run_open(&p.run, run, err);
		if (rc == 0)
			rc = play_run(&p, err);
		model_run_free(p.run);
		rules_engine_release(p.engine);
	}
	free(p.engine);
	free(p.tracks);
	map_release(&p.index);
	return rc;
}
