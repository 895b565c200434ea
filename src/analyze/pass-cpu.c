/* CPU: functions by samples, self and total. */
#include "analyze/calltree.h"
#include "analyze/name-groups.h"
#include "analyze/pass-results.h"
#include "analyze/pass.h"
#include "base/map.h"
#include "base/vec.h"
#include "model/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct cpu {
	int by_stack, by_kernel, run;
};

enum { Q_COUNT, Q_WEIGHT };

static int plan(struct analyze *a, void *state, struct sonde_err *err)
{
	struct cpu *c = state;
	struct engine_query by_stack = { "samples by stack", 1, { STORE_SAMPLE_stack }, ENGINE_NONE, 2,
		{ { ENGINE_COUNT, ENGINE_NONE }, { ENGINE_SUM, STORE_SAMPLE_weight_ns } } };
	struct engine_query by_kernel = by_stack;
	struct engine_query run = { "CPU time", 0, { 0 }, ENGINE_NONE, 1, { { ENGINE_SUM, STORE_TASK_run_ns } } };

	(void)err;
	by_kernel.name = "samples in the kernel";
	by_kernel.keys[0] = STORE_SAMPLE_is_kernel;
	c->by_stack = analyze_query(a, STORE_TABLE_SAMPLE, &by_stack);
	c->by_kernel = analyze_query(a, STORE_TABLE_SAMPLE, &by_kernel);
	c->run = analyze_query(a, STORE_TABLE_TASK, &run);
	return 0;
}

/* Functions. */

struct function {
	const char *name, *module;
	int64_t self_ns, total_ns;
	size_t seen_in; /* last stack that counted it, plus 1: recursion counts once */
};

struct profile {
	struct model_stacks *stacks;
	struct map numbers;
	struct function *functions;
	size_t cap;
	struct calltree tree;
	int64_t fault_ns; /* while page faults were handled */
};

static struct function *function_of(struct profile *p, const struct model_frame *frame)
{
	const char *name = model_frame_label(frame);
	bool is_new;
	uint64_t *number = map_put(&p->numbers, name, strlen(name) + 1, &is_new);

	if (!number)
		return NULL;
	if (!is_new)
		return &p->functions[*number];
	*number = p->numbers.count - 1;
	if (!VEC_GROW(p->functions, p->cap, p->numbers.count, VEC_MAX))
		return NULL;
	p->functions[*number] = (struct function){ .name = map_key(&p->numbers, *number, &(size_t){ 0 }),
		.module = frame->module };
	return &p->functions[*number];
}

static int add_stack(struct profile *p, int64_t stack, int64_t ns, size_t group)
{
	bool is_innermost = true;

	for (; stack != STORE_NULL; stack = model_stack_parent(p->stacks, stack)) {
		const struct model_frame *frames;
		size_t count = model_stack_place(p->stacks, stack, &frames);

		for (size_t i = 0; i < count; i++) {
			struct function *f = function_of(p, &frames[i]);

			if (!f)
				return -ENOMEM;
			f->self_ns += is_innermost ? ns : 0;
			f->total_ns += f->seen_in == group + 1 ? 0 : ns;
			f->seen_in = group + 1;
			is_innermost = false;
		}
	}
	return 0;
}

static int build_profile(struct analyze *a, struct profile *p, const struct engine_groups *g, struct sonde_err *err)
{
	int rc = model_stacks_open(&p->stacks, a->run, err);

	if (rc == 0)
		rc = calltree_init(&p->tree, p->stacks);
	for (size_t i = 0; i < g->count && rc == 0; i++) {
		int64_t stack = engine_key(g, i, 0), ns = engine_sum(g, Q_WEIGHT, i);

		rc = add_stack(p, stack, ns, i);
		if (rc == 0 && stack != STORE_NULL)
			rc = calltree_add(&p->tree, stack, ns);
		p->fault_ns += stack != STORE_NULL && wait_is_fault(p->stacks, stack) ? ns : 0;
	}
	return rc;
}

/* Showing. */

static const struct analyze_column columns[] = {
	{ "function", "FUNCTION", ANALYZE_TEXT },
	{ "self_ns", "SELF", ANALYZE_NS },
	{ "self", "SHARE", ANALYZE_RATIO },
	{ "total_ns", "TOTAL", ANALYZE_NS },
	{ "module", "MODULE", ANALYZE_TEXT },
};

static void add_functions(struct analyze *a, struct analyze_section *s, const struct profile *p, int64_t sampled_ns)
{
	struct analyze_table *t = analyze_table(s, "by_function", "Functions", columns,
			sizeof(columns) / sizeof(*columns), 0);
	size_t count = p->numbers.count;
	struct analyze_rank *ranks = analyze_ranks(a, count);

	for (size_t i = 0; ranks && i < count; i++)
		ranks[i] = (struct analyze_rank){ p->functions[i].self_ns, i };
	analyze_rank(ranks, ranks ? count : 0);
	for (size_t i = 0; ranks && i < analyze_top(a, count); i++) {
		const struct function *f = &p->functions[ranks[i].index];

		analyze_cell_text(t, f->name);
		analyze_cell_int(t, f->self_ns);
		analyze_cell_real(t, (double)f->self_ns / (double)sampled_ns);
		analyze_cell_int(t, f->total_ns);
		analyze_cell_text(t, f->module);
	}
	if (t)
		t->all_rows = count;
}

static void add_fields(struct analyze *a, const struct cpu *c, struct analyze_section *s, int64_t *sampled_ns)
{
	const struct engine_groups *by_kernel = analyze_groups(a, STORE_TABLE_SAMPLE, c->by_kernel);
	const struct engine_groups *run = analyze_groups(a, STORE_TABLE_TASK, c->run);
	bool has_run = run->count && engine_count(run, 0, 0) && !a->opts.has_range;
	int64_t kernel_ns = 0, samples = 0;

	*sampled_ns = 0;
	for (size_t i = 0; i < by_kernel->count; i++) {
		*sampled_ns += engine_sum(by_kernel, Q_WEIGHT, i);
		samples += (int64_t)engine_count(by_kernel, Q_COUNT, i);
		kernel_ns += engine_key(by_kernel, i, 0) == 1 ? engine_sum(by_kernel, Q_WEIGHT, i) : 0;
	}
	analyze_int(s, "cpu_ns", has_run ? "CPU time" : NULL, ANALYZE_NS, has_run ? engine_sum(run, 0, 0) : STORE_NULL);
	analyze_int(s, "samples", "samples", ANALYZE_COUNT, samples);
	analyze_int(s, "sampled_ns", NULL, ANALYZE_NS, *sampled_ns);
	analyze_int(s, "kernel_ns", "in the kernel", ANALYZE_NS, kernel_ns);
}

static int finish(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	const struct cpu *c = state;
	const struct engine_groups *g = analyze_groups(a, STORE_TABLE_SAMPLE, c->by_stack);
	struct profile p = { .cap = 0 };
	int64_t sampled_ns;
	int rc = 0;

	if (!g->count || g->is_over) {
		analyze_absent(s, "CPU samples were not recorded");
		return 0;
	}
	add_fields(a, c, s, &sampled_ns);
	rc = build_profile(a, &p, g, err);
	if (rc == 0) {
		struct groups groups;

		analyze_int(s, "fault_ns", NULL, ANALYZE_NS, p.fault_ns);
		add_functions(a, s, &p, sampled_ns);
		calltree_show(&p.tree, a, s);
		rc = groups_parse(&groups, a, a->opts.cpu_filters);
		for (size_t i = 0; i < p.numbers.count && rc == 0; i++)
			groups_add(&groups, p.functions[i].name, p.functions[i].self_ns, 1);
		if (rc == 0)
			groups_show(&groups, s, sampled_ns);
	}
	calltree_release(&p.tree);
	free(p.functions);
	map_release(&p.numbers);
	model_stacks_free(p.stacks);
	return rc == -ENOMEM           ? err_sys(err, ENOMEM, "cannot build the CPU profile")
			: rc == -E2BIG ? err_set(err, E2BIG, "too many groups (maximum %d)", GROUPS_MAX)
				       : rc;
}

const struct analyze_pass analyze_pass_cpu = { .key = "cpu",
	.title = "CPU",
	.state_bytes = sizeof(struct cpu),
	.plan = plan,
	.finish = finish };
