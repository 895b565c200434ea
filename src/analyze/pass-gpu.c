/* Devices: how long each was busy, which kernels took the time, how much was copied whither. */
#include "analyze/absent.h"

#include <string.h>

enum { BY_NAME, BY_DIRECTION, BY_DEVICE, QUERIES };

struct gpu {
	int queries[QUERIES];
};

/* Of every query, by these numbers. */
enum { Q_COUNT, Q_DUR, Q_BYTES, Q_MAX, Q_BUSY };

static int plan(struct analyze *a, void *state, struct sonde_err *err)
{
	static const struct engine_query queries[] = {
		[BY_NAME] = { "gpu by name", 2, { STORE_GPU_kind, STORE_GPU_name }, ENGINE_NONE, 4,
				{ { ENGINE_COUNT, ENGINE_NONE }, { ENGINE_SUM, STORE_GPU_dur_ns },
						{ ENGINE_SUM, STORE_GPU_bytes }, { ENGINE_MAX, STORE_GPU_dur_ns } } },
		[BY_DIRECTION] = { "gpu by direction", 2, { STORE_GPU_kind, STORE_GPU_direction }, ENGINE_NONE, 4,
				{ { ENGINE_COUNT, ENGINE_NONE }, { ENGINE_SUM, STORE_GPU_dur_ns },
						{ ENGINE_SUM, STORE_GPU_bytes }, { ENGINE_MAX, STORE_GPU_dur_ns } } },
		[BY_DEVICE] = { "gpu by device", 2, { STORE_GPU_device_id, STORE_GPU_device }, ENGINE_NONE, 5,
				{ { ENGINE_COUNT, ENGINE_NONE }, { ENGINE_SUM, STORE_GPU_dur_ns },
						{ ENGINE_SUM, STORE_GPU_bytes }, { ENGINE_MAX, STORE_GPU_dur_ns },
						{ ENGINE_UNION, ENGINE_NONE } } },
	};
	struct gpu *g = state;

	(void)err;
	for (int i = 0; i < QUERIES; i++)
		g->queries[i] = analyze_query(a, STORE_TABLE_GPU, &queries[i]);
	return 0;
}

static bool is_word(const struct analyze *a, int64_t string, const char *word)
{
	const struct store_text *text = model_name(a->run, string);

	return text && text->bytes == strlen(word) && memcmp(text->data, word, text->bytes) == 0;
}

static void add_devices(struct analyze *a, struct analyze_section *s, const struct engine_groups *g)
{
	static const struct analyze_column columns[] = {
		{ "device", "DEVICE", ANALYZE_TEXT },
		{ "number", "NUMBER", ANALYZE_ID },
		{ "commands", "COMMANDS", ANALYZE_COUNT },
		{ "busy_ns", "BUSY", ANALYZE_NS },
		{ "busy_ratio", "PART", ANALYZE_RATIO },
	};
	struct analyze_table *t = analyze_table(s, "by_device", "Devices", columns, 5, 0);
	int64_t all_ns = a->end_ns != STORE_NULL ? a->end_ns - a->start_ns : 0;

	for (size_t i = 0; i < analyze_top(a, g->count); i++) {
		const struct engine_sweep_set set = { engine_cover(g, Q_BUSY, i), 0 };
		int64_t busy_ns = engine_cover_ns(&set, 1);

		analyze_cell_bytes(t, model_name(a->run, engine_key(g, i, 1)));
		analyze_cell_int(t, engine_key(g, i, 0));
		analyze_cell_int(t, (int64_t)engine_count(g, Q_COUNT, i));
		analyze_cell_int(t, busy_ns >= 0 ? busy_ns : STORE_NULL);
		analyze_cell_real(t, all_ns > 0 && busy_ns >= 0 ? (double)busy_ns / (double)all_ns : STORE_NULL_REAL);
	}
	if (t)
		t->all_rows = g->count;
}

static void add_kernels(struct analyze *a, struct analyze_section *s, const struct engine_groups *g)
{
	static const struct analyze_column columns[] = {
		{ "count", "COUNT", ANALYZE_COUNT },
		{ "total_ns", "TIME", ANALYZE_SUM_NS },
		{ "max_ns", "LONGEST", ANALYZE_NS },
		{ "kernel", "KERNEL", ANALYZE_TEXT },
	};
	struct analyze_table *t = analyze_table(s, "by_kernel", "Kernels by time", columns, 4, 0);
	struct analyze_rank *ranks = analyze_ranks(a, g->count);
	size_t n = 0;

	for (size_t i = 0; ranks && i < g->count; i++)
		if (is_word(a, engine_key(g, i, 0), "kernel"))
			ranks[n++] = (struct analyze_rank){ .weight = engine_sum(g, Q_DUR, i), .index = i };
	analyze_rank(ranks, n);
	for (size_t r = 0; ranks && r < analyze_top(a, n); r++) {
		size_t i = ranks[r].index;

		analyze_cell_int(t, (int64_t)engine_count(g, Q_COUNT, i));
		analyze_cell_int(t, engine_sum(g, Q_DUR, i));
		analyze_cell_int(t, engine_extreme(g, Q_MAX, i));
		analyze_cell_bytes(t, model_name(a->run, engine_key(g, i, 1)));
	}
	if (t)
		t->all_rows = n;
}

static void add_copies(struct analyze *a, struct analyze_section *s, const struct engine_groups *g)
{
	static const struct analyze_column columns[] = {
		{ "direction", "COPIES", ANALYZE_TEXT },
		{ "count", "COUNT", ANALYZE_COUNT },
		{ "bytes", "BYTES", ANALYZE_BYTES },
		{ "total_ns", "TIME", ANALYZE_SUM_NS },
		{ "bytes_per_second", "BYTES/S", ANALYZE_BYTES },
	};
	struct analyze_table *t = analyze_table(s, "by_direction", "Copies", columns, 5, 0);

	for (size_t i = 0; i < g->count; i++) {
		int64_t dur_ns = engine_sum(g, Q_DUR, i), bytes = engine_sum(g, Q_BYTES, i);

		if (!is_word(a, engine_key(g, i, 0), "copy"))
			continue;
		analyze_cell_bytes(t, model_name(a->run, engine_key(g, i, 1)));
		analyze_cell_int(t, (int64_t)engine_count(g, Q_COUNT, i));
		analyze_cell_int(t, bytes);
		analyze_cell_int(t, dur_ns);
		analyze_cell_int(t, dur_ns > 0 ? (int64_t)((double)bytes * 1e9 / (double)dur_ns) : STORE_NULL);
	}
}

/* Time of one kind of commands, all devices together. */
static int64_t time_of(const struct analyze *a, const struct engine_groups *g, const char *kind)
{
	int64_t sum = 0;

	for (size_t i = 0; i < g->count; i++)
		if (is_word(a, engine_key(g, i, 0), kind))
			sum += engine_sum(g, Q_DUR, i);
	return sum;
}

static int finish(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	const struct gpu *g = state;
	const struct engine_groups *groups[QUERIES];

	(void)err;
	if (!analyze_has_table(a, "gpu")) {
		analyze_absent(s, "no device executed anything that was recorded");
		return 0;
	}
	for (int i = 0; i < QUERIES; i++)
		groups[i] = analyze_groups(a, STORE_TABLE_GPU, g->queries[i]);
	analyze_int(s, "kernel_ns", "time in kernels", ANALYZE_SUM_NS, time_of(a, groups[BY_DIRECTION], "kernel"));
	analyze_int(s, "copy_ns", "time in copies", ANALYZE_SUM_NS, time_of(a, groups[BY_DIRECTION], "copy"));
	add_devices(a, s, groups[BY_DEVICE]);
	add_kernels(a, s, groups[BY_NAME]);
	add_copies(a, s, groups[BY_DIRECTION]);
	return 0;
}

const struct analyze_pass analyze_pass_gpu = { .key = "gpu",
	.title = "Devices",
	.state_bytes = sizeof(struct gpu),
	.plan = plan,
	.finish = finish };
