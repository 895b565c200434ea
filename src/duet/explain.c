#include "duet/explain.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "base/map.h"
#include "base/vec.h"
#include "engine/call-sums.h"
#include "model/stacks.h"
#include "store/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAUSES_MAX = 100000 };

/* A call or file: its time in each recording of each side. */
struct tally {
	const char *kind, *name;
	double *ns[DUET_SIDES]; /* by recording */
	double calls[DUET_SIDES];
};

struct collector {
	struct map index;
	struct tally *tallies;
	size_t count, capacity;
	size_t recordings, now;        /* total number of recordings, and the current one */
	const char *roots[DUET_SIDES]; /* of each side's files, for names that are paths; NULL: none */
	struct arena *arena;
	struct sonde_err *err;
};

static struct tally *tally_of(struct collector *c, const char *kind, const struct store_text *name)
{
	CLEANUP(buf_release) struct buf key = BUF_INIT;
	uint64_t *place;
	bool is_new;

	buf_addf(&key, "%s ", kind);
	buf_add(&key, name->data, name->bytes);
	place = map_put(&c->index, key.data, key.len, &is_new);
	if (place && !is_new)
		return &c->tallies[*place];
	if (!place || !VEC_GROW(c->tallies, c->capacity, c->count + 1, CAUSES_MAX))
		return NULL;
	*place = c->count;
	c->tallies[c->count] = (struct tally){ .kind = kind,
		.name = arena_copy(c->arena, name->data, name->bytes),
		.ns = { arena_alloc(c->arena, c->recordings * sizeof(double)),
				arena_alloc(c->arena, c->recordings * sizeof(double)) } };
	return &c->tallies[c->count++];
}

/* Returns a path relative to the root of the side's files (a worktree), which is the same on both sides. */
static struct store_text from_within(struct store_text path, const char *root)
{
	size_t n = root ? strlen(root) : 0;

	if (!n || path.bytes < n || memcmp(path.data, root, n) != 0 || (path.bytes > n && path.data[n] != '/'))
		return path;
	if (path.bytes <= n + 1)
		return (struct store_text){ .data = ".", .bytes = 1 };
	return (struct store_text){ .data = path.data + n + 1, .bytes = path.bytes - n - 1 };
}

/* root: of the side's files, for names that are paths; else NULL. */
static int add_totals(struct collector *c, enum duet_side side, const char *kind, const char *root,
		const struct call_sum *totals, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct store_text name = from_within(totals[i].name, root);
		struct tally *t = name.data ? tally_of(c, kind, &name) : NULL;

		if (!t || !t->name || !t->ns[DUET_A] || !t->ns[DUET_B])
			continue;
		t->ns[side][c->now] += (double)totals[i].total_ns;
		t->calls[side] += (double)totals[i].calls;
	}
	return 0;
}

static const struct engine_run_opts every_row;

static void add_time(struct collector *c, enum duet_side side, const char *kind, const char *text, int64_t ns,
		uint64_t count)
{
	struct store_text name = { .data = text, .bytes = strlen(text) };
	struct tally *t = tally_of(c, kind, &name);

	if (!t || !t->name || !t->ns[DUET_A] || !t->ns[DUET_B])
		return;
	t->ns[side][c->now] += (double)ns;
	t->calls[side] += (double)count;
}

/* Sums a table by the query; a run without the table has no groups. Free the plan, also after a failure. */
static int sum_table(struct collector *c, struct model_run *run, enum store_table_id id, const struct engine_query *q,
		struct engine_plan **plan)
{
	struct store_table *table = model_table(run, id);
	int rc = engine_plan_new(plan, store_schemas[id], c->err);

	if (!rc && engine_plan_query(*plan, q) < 0)
		rc = err_sys(c->err, ENOMEM, "cannot explain the difference");
	if (!rc && table)
		rc = engine_plan_run(*plan, table, &every_row, c->err);
	return rc ? rc : engine_plan_finish(*plan, c->err);
}

/* Returns the function of a stack; NULL if unknown. */
static const char *place_of(struct model_stacks *stacks, int64_t stack)
{
	const struct model_frame *frames;

	if (stack == STORE_NULL || !model_stack_place(stacks, stack, &frames))
		return NULL;
	return model_frame_label(&frames[0]);
}

/* Adds CPU time by function. */
static int add_functions(struct collector *c, enum duet_side side, struct model_run *run, struct model_stacks *stacks)
{
	struct engine_query by_stack = { "samples", 1, { STORE_SAMPLE_stack }, ENGINE_NONE, 1,
		{ { ENGINE_SUM, STORE_SAMPLE_weight_ns } } };
	struct engine_plan *plan = NULL;
	int rc = sum_table(c, run, STORE_TABLE_SAMPLE, &by_stack, &plan);

	for (size_t i = 0; !rc && i < engine_plan_groups(plan, 0)->count; i++) {
		const struct engine_groups *g = engine_plan_groups(plan, 0);
		const char *place = place_of(stacks, engine_key(g, i, 0));

		if (place && engine_count(g, 0, i))
			add_time(c, side, "function", place, engine_sum(g, 0, i), engine_count(g, 0, i));
	}
	engine_plan_free(plan);
	return rc;
}

/* Every wait ends in the kernel's scheduler: the program's function that led there is more informative. */
static int64_t own_stack(struct model_stacks *stacks, int64_t stack)
{
	const struct model_frame *frames;
	int64_t parent;

	while (stack != STORE_NULL && model_stack_place(stacks, stack, &frames) && frames[0].is_kernel) {
		parent = model_stack_parent(stacks, stack);
		if (parent == STORE_NULL)
			break;
		stack = parent;
	}
	return stack;
}

/* Adds off-CPU time by reason; and by function, for waits with a stack that were not preemptions. */
static int add_waits(struct collector *c, enum duet_side side, struct model_run *run, struct model_stacks *stacks)
{
	struct engine_query by_stack = { "waits", 2, { STORE_SCHED_state, STORE_SCHED_stack }, ENGINE_NONE, 1,
		{ { ENGINE_TIME, ENGINE_NONE } } };
	struct engine_plan *plan = NULL;
	int rc = sum_table(c, run, STORE_TABLE_SCHED, &by_stack, &plan);

	for (size_t i = 0; !rc && i < engine_plan_groups(plan, 0)->count; i++) {
		CLEANUP(buf_release) struct buf name = BUF_INIT;
		const struct engine_groups *g = engine_plan_groups(plan, 0);
		const char *state = model_cname(run, engine_key(g, i, 0));
		const char *place = place_of(stacks, own_stack(stacks, engine_key(g, i, 1)));
		uint64_t count = engine_count(g, 0, i);

		if (!count || !state)
			continue;
		add_time(c, side, "wait", state, engine_sum(g, 0, i), count);
		if (!place || !strcmp(state, "preempted"))
			continue;
		buf_addf(&name, "%s in %s", state, place);
		if (!buf_error(&name))
			add_time(c, side, "wait", name.data, engine_sum(g, 0, i), count);
	}
	engine_plan_free(plan);
	return rc;
}

static int read_recording(void *arg, enum duet_side side, const char *path, struct sonde_err *err)
{
	struct collector *c = arg;
	struct call_sums totals = { 0 };
	struct model_stacks *stacks = NULL;
	struct model_run *run = NULL;
	int rc = model_run_open(&run, path, c->err);

	if (!rc)
		rc = call_sums_read(&totals, run, &every_row, c->err);
	if (!rc)
		rc = add_totals(c, side, "call", NULL, totals.calls, totals.call_count);
	if (!rc)
		rc = add_totals(c, side, "file", c->roots[side], totals.paths, totals.path_count);
	if (!rc)
		rc = model_stacks_open(&stacks, run, c->err);
	if (!rc)
		rc = add_functions(c, side, run, stacks);
	if (!rc)
		rc = add_waits(c, side, run, stacks);
	model_stacks_free(stacks);
	call_sums_release(&totals);
	model_run_free(run);
	return rc;
}

static int by_size(const void *pa, const void *pb)
{
	double a = fabs(((const struct duet_cause *)pa)->delta.estimate),
	       b = fabs(((const struct duet_cause *)pb)->delta.estimate);

	return (a < b) - (a > b);
}

static int make_causes(struct collector *c, double level, struct duet_explanation *out)
{
	size_t n = c->recordings;

	out->causes = arena_alloc(c->arena, (c->count + 1) * sizeof(*out->causes));
	if (!out->causes)
		return err_sys(c->err, ENOMEM, "cannot explain the difference");
	for (size_t i = 0; i < c->count; i++) {
		const struct tally *t = &c->tallies[i];
		struct stats_moments a, b;

		if (!t->ns[DUET_A] || !t->ns[DUET_B])
			continue;
		a = stats_moments_of(t->ns[DUET_A], n);
		b = stats_moments_of(t->ns[DUET_B], n);
		out->causes[out->count++] = (struct duet_cause){ .kind = t->kind,
			.name = t->name,
			.a_ns = a.mean,
			.b_ns = b.mean,
			.a_calls = t->calls[DUET_A] / (double)n,
			.b_calls = t->calls[DUET_B] / (double)n,
			.delta = stats_welch_interval(&a, &b, level) };
	}
	qsort(out->causes, out->count, sizeof(*out->causes), by_size);
	out->recordings = n;
	return 0;
}

int duet_explain(struct duet_steps *s, size_t recordings, uint64_t seed, double level, struct arena *arena,
		struct duet_explanation *out, struct sonde_err *err)
{
	struct collector c = { .recordings = recordings,
		.roots = { s->exec->commands[DUET_A].root, s->exec->commands[DUET_B].root },
		.arena = arena,
		.err = err };
	struct duet_plan plan;
	int rc = 0;

	*out = (struct duet_explanation){ 0 };
	duet_plan_init(&plan, DUET_RMIT, 1, false, seed);
	for (; c.now < recordings && !rc; c.now++) {
		struct duet_turn turn;

		duet_plan_next(&plan, &turn);
		rc = duet_steps_record(s, &turn, read_recording, &c, err);
	}
	if (!rc)
		rc = make_causes(&c, level, out);
	map_release(&c.index);
	free(c.tallies);
	return rc;
}
