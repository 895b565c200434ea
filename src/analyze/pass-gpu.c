/* GPU: kernels by name, copies by direction, busy time of devices. From the table gpu. */
#include "analyze/name-groups.h"
#include "analyze/pass-results.h"
#include "analyze/pass.h"

#include <string.h>

struct gpu {
	int by_kind, by_name, by_direction, busy;
};

/* A rate divides bytes by Q_WHOLE, the durations of the same rows; Q_DUR is the time inside the window. */
enum { Q_COUNT, Q_DUR, Q_BYTES, Q_MAX, Q_WHOLE };

static int plan(struct analyze *a, void *state, struct sonde_err *err)
{
	struct gpu *s = state;
	struct engine_query q = { "device commands", 2, { STORE_GPU_kind, STORE_GPU_device }, ENGINE_NONE, 5,
		{ [Q_COUNT] = { ENGINE_COUNT, ENGINE_NONE },
				[Q_DUR] = { ENGINE_TIME, ENGINE_NONE },
				[Q_BYTES] = { ENGINE_SUM, STORE_GPU_bytes },
				[Q_MAX] = { ENGINE_MAX, STORE_GPU_dur_ns },
				[Q_WHOLE] = { ENGINE_SUM, STORE_GPU_dur_ns } } };
	struct engine_query busy = { "devices busy", 1, { STORE_GPU_device }, ENGINE_NONE, 1,
		{ { ENGINE_UNION, ENGINE_NONE } } };

	(void)err;
	s->by_kind = analyze_query(a, STORE_TABLE_GPU, &q);
	q.keys[1] = STORE_GPU_name;
	s->by_name = analyze_query(a, STORE_TABLE_GPU, &q);
	q.keys[1] = STORE_GPU_direction;
	s->by_direction = analyze_query(a, STORE_TABLE_GPU, &q);
	s->busy = analyze_query(a, STORE_TABLE_GPU, &busy);
	return 0;
}

static bool is_kind(const struct analyze *a, const struct engine_groups *g, size_t i, const char *kind)
{
	const char *found = model_cname(a->run, engine_key(g, i, 0));

	return found && strcmp(found, kind) == 0;
}

int64_t gpu_kernels_ns(const struct analyze *a, const char *part)
{
	const struct gpu *s = analyze_state(a, "gpu");
	const struct engine_groups *g = analyze_groups(a, STORE_TABLE_GPU, s->by_name);
	int64_t ns = 0;

	for (size_t i = 0; i < g->count; i++) {
		const char *name = model_cname(a->run, engine_key(g, i, 1));

		if (name && is_kind(a, g, i, "kernel") && strstr(name, part))
			ns += engine_sum(g, Q_DUR, i);
	}
	return g->count ? ns : STORE_NULL;
}

bool gpu_copies(const struct analyze *a, const char *direction, int64_t *ns, int64_t *bytes)
{
	const struct gpu *s = analyze_state(a, "gpu");
	const struct engine_groups *g = analyze_groups(a, STORE_TABLE_GPU, s->by_direction);

	for (size_t i = 0; i < g->count; i++) {
		const char *name = model_cname(a->run, engine_key(g, i, 1));

		if (!name || !is_kind(a, g, i, "copy") || strcmp(name, direction) != 0)
			continue;
		*ns = engine_sum(g, Q_DUR, i);
		*bytes = engine_sum(g, Q_BYTES, i);
		return true;
	}
	return false;
}

static const struct analyze_column kernel_columns[] = {
	{ "kernel", "KERNEL", ANALYZE_TEXT },
	{ "total_ns", "TIME", ANALYZE_NS },
	{ "count", "COUNT", ANALYZE_COUNT },
	{ "max_ns", "LONGEST", ANALYZE_NS },
};

static const struct analyze_column copy_columns[] = {
	{ "direction", "COPIES", ANALYZE_TEXT },
	{ "total_ns", "TIME", ANALYZE_NS },
	{ "count", "COUNT", ANALYZE_COUNT },
	{ "bytes", "BYTES", ANALYZE_BYTES },
	{ "bytes_per_second", "BYTES/S", ANALYZE_REAL },
};

static void add_rows(struct analyze *a, struct analyze_table *t, const struct engine_groups *g, const char *kind,
		bool is_copy)
{
	struct analyze_rank *ranks = analyze_ranks(a, g->count);
	size_t n = 0;

	for (size_t i = 0; ranks && i < g->count; i++)
		if (is_kind(a, g, i, kind))
			ranks[n++] = (struct analyze_rank){ engine_sum(g, Q_DUR, i), i };
	analyze_rank(ranks, n);
	for (size_t r = 0; ranks && r < analyze_top(a, n); r++) {
		size_t i = ranks[r].index;
		int64_t whole_ns = engine_sum(g, Q_WHOLE, i), bytes = engine_sum(g, Q_BYTES, i);

		analyze_cell_bytes(t, model_name(a->run, engine_key(g, i, 1)));
		analyze_cell_int(t, engine_sum(g, Q_DUR, i));
		analyze_cell_int(t, (int64_t)engine_count(g, Q_COUNT, i));
		analyze_cell_int(t, is_copy ? bytes : engine_extreme(g, Q_MAX, i));
		if (is_copy)
			analyze_cell_real(t, whole_ns > 0 ? (double)bytes * 1e9 / (double)whole_ns : STORE_NULL_REAL);
	}
	if (t)
		t->all_rows = n;
}

static int64_t sum_of(const struct analyze *a, const struct engine_groups *g, const char *kind, unsigned aggregate)
{
	int64_t sum = 0;

	for (size_t i = 0; i < g->count; i++)
		sum += is_kind(a, g, i, kind) ? engine_sum(g, aggregate, i) : 0;
	return sum;
}

static int64_t busy_ns(const struct engine_groups *g)
{
	int64_t most = 0;

	for (size_t i = 0; i < g->count; i++) {
		struct engine_sweep_set set = { .cover = interval_set(g, 0, i) };
		int64_t ns = set.cover ? interval_set_ns(&set, 1) : 0;

		most = ns > most ? ns : most;
	}
	return most;
}

static int add_groups(struct analyze *a, struct analyze_section *s, const struct engine_groups *g, int64_t all_ns)
{
	struct groups groups;
	int rc = groups_parse(&groups, a, a->opts.gpu_filters);

	for (size_t i = 0; i < g->count && rc == 0; i++) {
		const char *name = model_cname(a->run, engine_key(g, i, 1));

		if (name && is_kind(a, g, i, "kernel"))
			groups_add(&groups, name, engine_sum(g, Q_DUR, i), 1);
	}
	if (rc == 0)
		groups_show(&groups, s, all_ns);
	return rc;
}

static int finish(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	const struct gpu *g = state;
	const struct engine_groups *by_kind = analyze_groups(a, STORE_TABLE_GPU, g->by_kind);
	const struct engine_groups *busy = analyze_groups(a, STORE_TABLE_GPU, g->busy);
	int rc;

	if (!by_kind->count) {
		analyze_absent(s, "no GPU commands were recorded");
		return 0;
	}
	analyze_int(s, "devices", "devices", ANALYZE_COUNT, (int64_t)busy->count);
	analyze_int(s, "busy_ns", "busiest device busy", ANALYZE_NS, busy_ns(busy));
	analyze_int(s, "kernel_ns", "in kernels", ANALYZE_SUM_NS, sum_of(a, by_kind, "kernel", Q_DUR));
	analyze_int(s, "copy_ns", "in copies", ANALYZE_SUM_NS, sum_of(a, by_kind, "copy", Q_DUR));
	analyze_int(s, "copied_bytes", "copied", ANALYZE_BYTES, sum_of(a, by_kind, "copy", Q_BYTES));
	add_rows(a, analyze_table(s, "kernels", "Kernels by time", kernel_columns, 4, 0),
			analyze_groups(a, STORE_TABLE_GPU, g->by_name), "kernel", false);
	add_rows(a, analyze_table(s, "copies", "Copies by time", copy_columns, 5, 0),
			analyze_groups(a, STORE_TABLE_GPU, g->by_direction), "copy", true);
	rc = add_groups(a, s, analyze_groups(a, STORE_TABLE_GPU, g->by_name), sum_of(a, by_kind, "kernel", Q_DUR));
	return rc < 0 ? err_sys(err, -rc, "cannot group the kernels") : 0;
}

const struct analyze_pass analyze_pass_gpu = { .key = "gpu",
	.title = "GPU",
	.state_bytes = sizeof(struct gpu),
	.plan = plan,
	.finish = finish };
