/* Swarms: function clusters (swarm.h), from the table `sample`. */
#include "analyze/pass.h"
#include "analyze/swarm.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_MAX 20000 /* maximum profiled functions; later ones belong to no swarm, which is reported */
#define MEMBERS_SHOWN 6

struct swarms {
	int by_thread;
};

static int plan(struct analyze *a, void *state, struct sonde_err *err)
{
	struct engine_query by_thread = { "samples by thread", 1, { STORE_SAMPLE_tid }, ENGINE_NONE, 1,
		{ { ENGINE_COUNT, ENGINE_NONE } } };

	(void)err;
	((struct swarms *)state)->by_thread = analyze_query(a, STORE_TABLE_SAMPLE, &by_thread);
	return 0;
}

/* Profiles. */

struct profiling {
	struct analyze *a;
	struct model_stacks *stacks;
	struct map names; /* functions to their index */
	struct swarm_function *functions;
	size_t cap;
	int32_t *of_stack; /* function of each stack, plus 1; 0: not looked up */
	size_t stack_count;
	int64_t threads[SWARM_THREADS - 1];
	int64_t left_out; /* samples */
};

/* Returns the index of the function of a stack, or -1: unknown, or too many. */
static int function_of(struct profiling *p, int64_t stack)
{
	const struct model_frame *frames;
	const char *label;
	uint64_t *number;
	bool is_new;

	if (stack < 1 || (uint64_t)stack > p->stack_count)
		return -1;
	if (p->of_stack[stack])
		return p->of_stack[stack] - 1;
	if (!model_stack_place(p->stacks, stack, &frames))
		return -1;
	label = model_frame_label(&frames[0]);
	number = map_put(&p->names, label, strlen(label) + 1, &is_new);
	if (!number)
		return -ENOMEM;
	if (is_new)
		*number = p->names.count - 1;
	if (*number >= FUNCTIONS_MAX)
		return -1;
	if (is_new) {
		if (!VEC_GROW(p->functions, p->cap, *number + 1, FUNCTIONS_MAX))
			return -ENOMEM;
		memset(&p->functions[*number], 0, sizeof(*p->functions));
		p->functions[*number].name = map_key(&p->names, *number, &(size_t){ 0 });
	}
	p->of_stack[stack] = (int32_t)*number + 1;
	return (int)*number;
}

static size_t place_of(const struct profiling *p, int64_t ts_ns, int64_t tid)
{
	int64_t bucket = (int64_t)((double)(ts_ns - p->a->start_ns) * SWARM_BUCKETS /
			((double)(p->a->end_ns - p->a->start_ns) + 1));
	size_t thread = 0;

	while (thread < SWARM_THREADS - 1 && p->threads[thread] != tid)
		thread++;
	bucket = bucket < 0 ? 0 : bucket >= SWARM_BUCKETS ? SWARM_BUCKETS - 1 : bucket;
	return thread * SWARM_BUCKETS + (size_t)bucket;
}

static int on_block(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct profiling *p = arg;
	const int64_t *ts = b->columns[STORE_SAMPLE_ts_ns].ints, *tid = b->columns[STORE_SAMPLE_tid].ints;
	const int64_t *weight = b->columns[STORE_SAMPLE_weight_ns].ints, *stack = b->columns[STORE_SAMPLE_stack].ints;
	const struct analyze_opts *o = &p->a->opts;

	(void)worker, (void)block;
	for (size_t i = 0; i < b->rows; i++) {
		int f = o->has_range && (ts[i] < o->from_ns || ts[i] >= o->to_ns) ? -1 : function_of(p, stack[i]);
		struct swarm_function *function;
		int64_t since;

		if (f == -ENOMEM)
			return -ENOMEM;
		p->left_out += f < 0;
		if (f < 0)
			continue;
		function = &p->functions[f];
		since = ts[i] - p->a->start_ns;
		function->first_ns = function->samples && function->first_ns < since ? function->first_ns : since;
		function->last_ns = function->samples && function->last_ns > since ? function->last_ns : since;
		function->ns += weight[i] == STORE_NULL ? 0 : weight[i];
		function->samples++;
		function->profile[place_of(p, ts[i], tid[i])] += 1;
	}
	return 0;
}

static void find_threads(struct profiling *p, const struct engine_groups *g)
{
	uint64_t least = UINT64_MAX;

	for (size_t t = 0; t < SWARM_THREADS - 1; t++) {
		uint64_t most = 0;

		p->threads[t] = STORE_NULL;
		for (size_t i = 0; i < g->count; i++) {
			uint64_t n = engine_count(g, 0, i);
			bool is_taken = false;

			for (size_t k = 0; k < t; k++)
				is_taken |= p->threads[k] == engine_key(g, i, 0);
			if (is_taken || n <= most || n > least)
				continue;
			most = n;
			p->threads[t] = engine_key(g, i, 0);
		}
		least = most;
	}
}

static int by_samples(const void *a, const void *b)
{
	const struct swarm_function *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int profile(struct profiling *p, const struct engine_groups *by_thread, struct sonde_err *err)
{
	int cols[] = { STORE_SAMPLE_ts_ns, STORE_SAMPLE_tid, STORE_SAMPLE_weight_ns, STORE_SAMPLE_stack };
	struct store_scan_opts opts = { .cols = cols, .ncols = 4, .threads = 1 };
	int rc = model_stacks_open(&p->stacks, p->a->run, err);

	if (rc < 0)
		return rc;
	p->stack_count = model_stacks_count(p->stacks);
	p->of_stack = calloc(p->stack_count + 1, sizeof(*p->of_stack));
	if (!p->of_stack)
		return -ENOMEM;
	find_threads(p, by_thread);
	rc = store_scan(model_table(p->a->run, STORE_TABLE_SAMPLE), &opts, on_block, p, err);
	if (rc == 0 && p->names.count)
		qsort(p->functions, p->names.count < FUNCTIONS_MAX ? p->names.count : FUNCTIONS_MAX,
				sizeof(*p->functions), by_samples);
	return rc;
}

/* Showing. */

static const struct analyze_column columns[] = {
	{ "caption", "SWARM", ANALYZE_TEXT },
	{ "total_ns", "TIME", ANALYZE_NS },
	{ "share", "SHARE", ANALYZE_RATIO },
	{ "samples", NULL, ANALYZE_COUNT },
	{ "functions", "FUNCTIONS", ANALYZE_COUNT },
	{ "from_ns", "FROM", ANALYZE_NS },
	{ "to_ns", "TO", ANALYZE_NS },
	{ "id", "ID", ANALYZE_TEXT },
	{ "members", "MEMBERS", ANALYZE_TEXT },
};

struct swarm {
	const char *caption;
	int64_t heaviest; /* samples of its heaviest function */
	int64_t ns, samples, first_ns, last_ns;
	size_t functions;
	struct buf members;
};

/*
 * Functions come heaviest first. If two have nearly the same weight, either may be first in another run, so a swarm
 * is named after the alphabetically first of those with at least half the largest weight.
 */
static void add_member(struct swarm *s, const struct swarm_function *f)
{
	if (!s->functions) {
		s->caption = f->name;
		s->heaviest = f->samples;
		s->first_ns = f->first_ns;
		s->last_ns = f->last_ns;
	}
	if (2 * f->samples >= s->heaviest && strcmp(f->name, s->caption) < 0)
		s->caption = f->name;
	s->first_ns = f->first_ns < s->first_ns ? f->first_ns : s->first_ns;
	s->last_ns = f->last_ns > s->last_ns ? f->last_ns : s->last_ns;
	s->ns += f->ns;
	s->samples += f->samples;
	if (s->functions < MEMBERS_SHOWN)
		buf_addf(&s->members, "%s%.100s", s->functions ? ", " : "", f->name);
	s->functions++;
}

static int add_swarms(struct analyze *a, struct analyze_section *section, const struct profiling *p, int count)
{
	struct swarm *swarms = calloc((size_t)count, sizeof(*swarms));
	struct analyze_rank *ranks = analyze_ranks(a, (size_t)count);
	struct analyze_table *t = analyze_table(section, "by_swarm", "Function clusters", columns,
			sizeof(columns) / sizeof(*columns), 0);
	size_t functions = p->names.count < FUNCTIONS_MAX ? p->names.count : FUNCTIONS_MAX;
	int64_t all = 0;

	if (!swarms || !ranks) {
		free(swarms);
		return -ENOMEM;
	}
	for (int i = 0; i < count; i++)
		buf_init(&swarms[i].members, 4096);
	for (size_t i = 0; i < functions; i++) {
		add_member(&swarms[p->functions[i].swarm], &p->functions[i]);
		all += p->functions[i].samples;
	}
	for (int i = 0; i < count; i++)
		ranks[i] = (struct analyze_rank){ swarms[i].samples, (size_t)i };
	analyze_rank(ranks, (size_t)count);
	for (size_t i = 0; i < analyze_top(a, (size_t)count); i++) {
		const struct swarm *one = &swarms[ranks[i].index];
		char id[SWARM_ID_BYTES];

		swarm_id(id, one->caption);
		analyze_cell_text(t, one->caption);
		analyze_cell_int(t, one->ns);
		analyze_cell_real(t, (double)one->samples / (double)all);
		analyze_cell_int(t, one->samples);
		analyze_cell_int(t, (int64_t)one->functions);
		analyze_cell_int(t, one->first_ns);
		analyze_cell_int(t, one->last_ns);
		analyze_cell_text(t, id);
		analyze_cell_text(t, one->members.data);
	}
	if (t)
		t->all_rows = (size_t)count;
	analyze_int(section, "count", "swarms", ANALYZE_COUNT, count);
	analyze_int(section, "functions", "functions", ANALYZE_COUNT, (int64_t)functions);
	analyze_int(section, "left_out", p->left_out ? "samples without a known function" : NULL, ANALYZE_COUNT,
			p->left_out);
	for (int i = 0; i < count; i++)
		buf_release(&swarms[i].members);
	free(swarms);
	return 0;
}

static int finish(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	const struct engine_groups *by_thread = analyze_groups(a, STORE_TABLE_SAMPLE,
			((struct swarms *)state)->by_thread);
	struct profiling p = { .a = a };
	size_t count;
	int rc, swarms = 0;

	if (!by_thread->count) {
		analyze_absent(s, "CPU samples were not recorded");
		return 0;
	}
	rc = profile(&p, by_thread, err);
	count = p.names.count < FUNCTIONS_MAX ? p.names.count : FUNCTIONS_MAX;
	if (rc == 0 && count)
		swarms = swarm_group(p.functions, count);
	if (rc == 0)
		rc = swarms < 0 ? swarms : swarms ? add_swarms(a, s, &p, swarms) : 0;
	if (rc == 0 && !swarms)
		analyze_absent(s, "no CPU sample has a known function");
	free(p.functions);
	free(p.of_stack);
	map_release(&p.names);
	model_stacks_free(p.stacks);
	return rc == -ENOMEM ? err_sys(err, ENOMEM, "cannot group functions") : rc;
}

const struct analyze_pass analyze_pass_swarms = { .key = "swarms",
	.title = "Swarms",
	.state_bytes = sizeof(struct swarms),
	.plan = plan,
	.finish = finish };
