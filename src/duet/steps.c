#include "duet/steps.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/dimensions.h"
#include "model/rows.h"
#include "model/run-model.h"
#include "store/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME "sonde-duet-steps"

static const struct model_rows_opts every_row;

/* Returns the most frequent step name; STORE_NULL if there are no steps. */
static int most_frequent(struct model_run *run, int64_t *name, struct sonde_err *err)
{
	CLEANUP(map_release) struct map counts = MAP_INIT;
	struct model_rows *rows = NULL;
	const struct store_step *row;
	uint64_t most = 0;
	int rc = model_rows_open(&rows, model_table(run, STORE_TABLE_STEP), &every_row, err);

	*name = STORE_NULL;
	while (!rc && !(rc = model_rows_next(rows, (const void **)&row, err)) && row) {
		bool is_new;
		uint64_t *count = map_put_int(&counts, (uint64_t)row->name, &is_new);

		if (count && ++*count > most) {
			most = *count;
			*name = row->name;
		}
	}
	model_rows_free(rows);
	return rc;
}

static bool has_name(struct model_run *run, const struct store_step *row, const char *name, int64_t frequent)
{
	const char *own = model_cname(run, row->name);

	return name ? own && !strcmp(own, name) : row->name == frequent;
}

/* Reads iterations from step to step, per process. */
static int read_steps(struct duet_samples *out, struct model_run *run, const char *name, int64_t frequent,
		struct sonde_err *err)
{
	CLEANUP(map_release) struct map last = MAP_INIT;
	struct model_rows *rows = NULL;
	const struct store_step *row;
	int rc = model_rows_open(&rows, model_table(run, STORE_TABLE_STEP), &every_row, err);

	while (!rc && !(rc = model_rows_next(rows, (const void **)&row, err)) && row) {
		bool is_new;
		uint64_t *before;

		if (!has_name(run, row, name, frequent))
			continue;
		before = map_put_int(&last, (uint64_t)row->process, &is_new);
		if (!before) {
			rc = err_sys(err, ENOMEM, "cannot read the steps");
			break;
		}
		if (!is_new) {
			struct duet_iteration it = duet_iteration_at((int64_t)*before, row->ts_ns);

			it.metrics[DUET_VALUE] = row->value;
			if (duet_samples_add(out, &it))
				rc = err_sys(err, ENOMEM, "cannot read the steps");
		}
		*before = (uint64_t)row->ts_ns;
	}
	model_rows_free(rows);
	return rc;
}

int duet_steps_read(struct duet_samples *out, const char *bundle, const char *name, const char *counter,
		struct sonde_err *err)
{
	struct model_run *run = NULL;
	int64_t frequent = STORE_NULL;
	size_t before = out->count;
	int rc = model_run_open(&run, bundle, err);

	if (!rc)
		rc = model_load(run, MODEL_NAMES, err);
	if (!rc && !name)
		rc = most_frequent(run, &frequent, err);
	if (!rc)
		rc = read_steps(out, run, name, frequent, err);
	if (!rc && out->count == before) {
		rc = err_set(err, ENODATA, "'%s' has fewer than two steps", bundle);
		err_hint(err, "sonde_step(name, index, value) announces one");
	}
	if (!rc && counter)
		rc = duet_counter_read(run, counter, out, before, err);
	model_run_free(run);
	return rc;
}

/* Reads a number of run.json; NaN if null. */
static double number_of(const struct model_run *run, const char *keys)
{
	int64_t n = model_run_int(run, keys);

	return n == STORE_NULL ? NAN : (double)n;
}

int duet_steps_read_whole(struct duet_samples *out, const char *bundle, const char *counter, struct sonde_err *err)
{
	struct model_run *run = NULL;
	int rc = model_run_open(&run, bundle, err);
	int64_t start_ns = rc ? 0 : model_run_start_ns(run), wall_ns = rc ? 0 : model_run_int(run, "wall_ns");
	struct duet_iteration it = duet_iteration_at(start_ns, start_ns + (wall_ns > 0 ? wall_ns : 0));

	if (!rc && wall_ns <= 0)
		rc = err_set(err, ENODATA, "'%s' does not tell how long it took: its recording was cut short", bundle);
	if (!rc) {
		it.metrics[DUET_USER] = number_of(run, "usage.user_ns");
		it.metrics[DUET_SYSTEM] = number_of(run, "usage.system_ns");
		it.metrics[DUET_CPU] = it.metrics[DUET_USER] + it.metrics[DUET_SYSTEM];
		it.metrics[DUET_RSS] = number_of(run, "usage.max_rss_bytes");
		if (duet_samples_add(out, &it))
			rc = err_sys(err, ENOMEM, "cannot read '%s'", bundle);
	}
	if (!rc && counter)
		rc = model_load(run, MODEL_NAMES, err);
	if (!rc && counter)
		rc = duet_counter_read(run, counter, out, out->count - 1, err);
	model_run_free(run);
	return rc;
}

int duet_steps_open(struct duet_steps *s, struct arena *arena, struct sonde_err *err)
{
	static const char *const before[] = { "record", "--quiet", "--probes", "trace", "--output" };
	enum { BEFORE = sizeof(before) / sizeof(*before) };
	int rc;

	tempdir_sweep(NAME);
	rc = tempdir_make(&s->dir, NAME, err);

	if (rc)
		return rc;
	for (int side = 0; side < DUET_SIDES; side++) {
		char *const *argv = s->exec->commands[side].argv;
		size_t n = 0;
		char **all;

		while (argv[n])
			n++;
		all = arena_alloc(arena, (n + BEFORE + 4) * sizeof(*all));
		if (!all)
			return err_sys(err, ENOMEM, "cannot record the commands");
		all[0] = arena_strdup(arena, s->sonde);
		for (size_t i = 0; i < BEFORE; i++)
			all[1 + i] = arena_strdup(arena, before[i]);
		if (s->probes)
			all[4] = arena_strdup(arena, s->probes);
		all[1 + BEFORE] = arena_printf(arena, "%s/%c", s->dir.path, "AB"[side]);
		all[2 + BEFORE] = arena_strdup(arena, "--");
		memcpy(all + 3 + BEFORE, argv, n * sizeof(*all));
		s->argv[side] = all;
	}
	return 0;
}

void duet_steps_release(struct duet_steps *s)
{
	tempdir_release(&s->dir);
}

/* Executes each side once, as the task requires. For A against itself, A is recorded into both run directories. */
static int execute(struct duet_steps *s, const struct duet_task *task, struct duet_run *out, struct sonde_err *err)
{
	struct duet_exec own = *s->exec;
	struct duet_runner runner = duet_exec_runner(&own);
	struct duet_task once = { .design = task->design == DUET_ASYNC ? DUET_SYNC : task->design,
		.turns = task->turns,
		.turn_count = 1 };
	CLEANUP(arena_release) struct arena arena = ARENA_INIT;

	for (int side = 0; side < DUET_SIDES; side++) {
		char **argv = s->argv[side];

		if (task->is_aa && side == DUET_B) {
			size_t n = 0;

			while (s->argv[DUET_A][n])
				n++;
			argv = arena_alloc(&arena, (n + 1) * sizeof(*argv));
			if (!argv)
				return err_sys(err, ENOMEM, "cannot record the commands");
			memcpy(argv, s->argv[DUET_A], n * sizeof(*argv));
			argv[6] = s->argv[DUET_B][6]; /* the run directory */
		}
		own.commands[side].argv = argv;
	}
	return runner.run(runner.self, &once, out, err);
}

int duet_steps_record(struct duet_steps *s, const struct duet_turn *turn,
		int (*read)(void *arg, enum duet_side side, const char *dir, struct sonde_err *err), void *arg,
		struct sonde_err *err)
{
	struct duet_task task = { .design = DUET_RMIT, .turns = turn, .turn_count = 1 };
	struct duet_run run = { 0 };
	int rc = execute(s, &task, &run, err);

	duet_run_release(&run);
	for (int side = 0; side < DUET_SIDES; side++) {
		char path[FS_TEMP_BYTES + 16];

		snprintf(path, sizeof(path), "%s/%c", s->dir.path, "AB"[side]);
		if (!rc)
			rc = read(arg, (enum duet_side)side, path, err);
		fs_remove_tree(AT_FDCWD, path);
	}
	return rc;
}

static int run(void *self, const struct duet_task *task, struct duet_run *out, struct sonde_err *err)
{
	struct duet_steps *s = self;
	struct duet_run whole = { 0 };
	int rc = execute(s, task, &whole, err);

	out->start_ns = whole.start_ns;
	out->end_ns = whole.end_ns;
	duet_run_release(&whole);
	for (int side = 0; side < DUET_SIDES; side++) {
		char path[FS_TEMP_BYTES + 16];

		snprintf(path, sizeof(path), "%s/%c", s->dir.path, "AB"[side]);
		if (!rc)
			rc = s->is_whole ? duet_steps_read_whole(&out->sides[side], path, s->counter, err)
					 : duet_steps_read(&out->sides[side], path, s->name, s->counter, err);
		fs_remove_tree(AT_FDCWD, path);
	}
	return rc;
}

static int64_t now_ns(void *self)
{
	return clock_mono_ns();
}

struct duet_runner duet_steps_runner(struct duet_steps *s)
{
	return (struct duet_runner){ .self = s, .now_ns = now_ns, .run = run };
}

struct reading {
	int64_t ts_ns;
	double value; /* the increase, for a total */
	double sum;   /* of all samples up to this one */
};

struct readings {
	struct reading *items;
	size_t count, capacity;
	bool is_total;
};

static const struct model_rows_opts every_row;

static void release(struct readings *r)
{
	free(r->items);
}

static int add(struct readings *r, int64_t ts_ns, double value)
{
	if (!VEC_GROW(r->items, r->capacity, r->count + 1, VEC_MAX))
		return -ENOMEM;
	r->items[r->count++] = (struct reading){ .ts_ns = ts_ns, .value = value };
	return 0;
}

/* Reads the kind from the table series; counters emitted by programs are levels. */
static int find_kind(struct model_run *run, const char *name, struct readings *r, struct sonde_err *err)
{
	struct model_rows *rows = NULL;
	const struct store_series *row;
	int rc = model_rows_open(&rows, model_table(run, STORE_TABLE_SERIES), &every_row, err);

	while (!rc && !(rc = model_rows_next(rows, (const void **)&row, err)) && row) {
		const char *own = model_cname(run, row->name);

		if (own && !strcmp(own, name))
			r->is_total = row->is_total == 1;
	}
	model_rows_free(rows);
	return rc;
}

/* Adds the increase of a total, of one process or the machine. */
static int add_rise(struct readings *r, struct map *last, const struct store_counter *row)
{
	bool is_new;
	uint64_t *kept = map_put_int(last, (uint64_t)row->pid, &is_new);
	double before = 0;

	if (!kept)
		return -ENOMEM;
	if (!is_new)
		memcpy(&before, kept, sizeof(before));
	memcpy(kept, &row->value, sizeof(*kept));
	return add(r, row->ts_ns, row->value - before);
}

static int read_all(struct model_run *run, const char *name, struct readings *r, struct sonde_err *err)
{
	CLEANUP(map_release) struct map last = MAP_INIT;
	struct model_rows *rows = NULL;
	const struct store_counter *row;
	int rc = model_rows_open(&rows, model_table(run, STORE_TABLE_COUNTER), &every_row, err);

	while (!rc && !(rc = model_rows_next(rows, (const void **)&row, err)) && row) {
		const char *own = model_cname(run, row->name);

		if (!own || strcmp(own, name) != 0 || !isfinite(row->value))
			continue;
		if (r->is_total ? add_rise(r, &last, row) : add(r, row->ts_ns, row->value))
			rc = err_sys(err, ENOMEM, "cannot read the counter '%s'", name);
	}
	model_rows_free(rows);
	return rc;
}

static int by_time(const void *pa, const void *pb)
{
	const struct reading *a = pa, *b = pb;

	return (a->ts_ns > b->ts_ns) - (a->ts_ns < b->ts_ns);
}

/* Returns the number of samples before a timestamp. */
static size_t before(const struct readings *r, int64_t ts_ns)
{
	size_t lo = 0, hi = r->count;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (r->items[mid].ts_ns < ts_ns)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static double sum_of(const struct readings *r, size_t from, size_t to)
{
	return (to ? r->items[to - 1].sum : 0) - (from ? r->items[from - 1].sum : 0);
}

static double value_of(const struct readings *r, const struct duet_iteration *it)
{
	size_t from = before(r, it->start_ns), to = before(r, it->end_ns + 1);

	if (r->is_total)
		return sum_of(r, from, to);
	if (to > from)
		return sum_of(r, from, to) / (double)(to - from);
	return from ? r->items[from - 1].value : NAN;
}

int duet_counter_read(struct model_run *run, const char *name, struct duet_samples *s, size_t first,
		struct sonde_err *err)
{
	CLEANUP(release) struct readings r = { 0 };
	double sum = 0;
	int rc = find_kind(run, name, &r, err);

	if (!rc)
		rc = read_all(run, name, &r, err);
	if (!rc && !r.count) {
		rc = err_set(err, ENODATA, "the run has no counter '%s'", name);
		err_hint(err, "'sonde query \"select distinct name from counter\"' lists those of a recorded run");
	}
	if (rc)
		return rc;
	qsort(r.items, r.count, sizeof(*r.items), by_time);
	for (size_t i = 0; i < r.count; i++)
		r.items[i].sum = sum += r.items[i].value;
	for (size_t i = first; i < s->count; i++)
		s->items[i].metrics[DUET_VALUE] = value_of(&r, &s->items[i]);
	return 0;
}
