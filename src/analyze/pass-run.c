/* The run itself: overview (duration, processes, threads), probes and missing data. */
#include "analyze/pass.h"

#include <jansson.h>

/* Overview. */

static int64_t rows_of(const struct analyze *a, enum store_table_id id)
{
	const struct store_table *t = model_table(a->run, id);

	return t ? (int64_t)store_table_rows(t) : 0;
}

static int64_t wall_of(const struct analyze *a)
{
	int64_t wall_ns = model_run_int(a->run, "wall_ns");

	if (wall_ns >= 0 && !a->opts.has_range)
		return wall_ns;
	return a->start_ns == STORE_NULL ? STORE_NULL : a->end_ns - a->start_ns;
}

static int finish_overview(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	bool is_part = a->opts.has_range; /* totals of the whole run are then not printed */
	size_t processes, threads;

	(void)state, (void)err;
	model_processes(a->run, &processes);
	model_threads(a->run, &threads);
	if ((uint64_t)rows_of(a, STORE_TABLE_TASK) > threads)
		threads = (size_t)rows_of(a, STORE_TABLE_TASK); /* tasks without calls are seen only by the kernel */
	analyze_text(s, "run", "run", model_run_path(a->run));
	analyze_int(s, "start_ns", NULL, ANALYZE_ID, a->start_ns);
	analyze_int(s, "wall_ns", "wall time", ANALYZE_NS, wall_of(a));
	analyze_int(s, "processes", is_part ? NULL : "processes", ANALYZE_COUNT, (int64_t)processes);
	analyze_int(s, "threads", is_part ? NULL : "threads", ANALYZE_COUNT, (int64_t)threads);
	analyze_int(s, "events", is_part ? NULL : "events", ANALYZE_COUNT,
			rows_of(a, STORE_TABLE_IO) + rows_of(a, STORE_TABLE_SPAN) + rows_of(a, STORE_TABLE_STEP) +
					rows_of(a, STORE_TABLE_MARK) + rows_of(a, STORE_TABLE_COUNTER));
	if (is_part) {
		int64_t since_ns;

		analyze_int(s, "roi_from_ns", NULL, ANALYZE_ID, a->opts.from_ns);
		analyze_int(s, "roi_to_ns", NULL, ANALYZE_ID, a->opts.to_ns);
		if (!__builtin_sub_overflow(a->opts.from_ns, model_run_start_ns(a->run), &since_ns))
			analyze_int(s, "roi_since_ns", "from", ANALYZE_NS, since_ns);
	}
	return 0;
}

const struct analyze_pass analyze_pass_overview = { .key = "overview",
	.title = "Overview",
	.is_top = true,
	.finish = finish_overview };

/* Probes: which ones worked, which did not and why, from run.json. */

static const struct analyze_column probe_columns[] = {
	{ "name", "PROBE", ANALYZE_TEXT },
	{ "state", "STATE", ANALYZE_TEXT },
	{ "reason", "WHY", ANALYZE_TEXT },
	{ "events", "EVENTS", ANALYZE_COUNT },
	{ "dropped", "DROPPED", ANALYZE_COUNT },
};

static int64_t number_of(const json_t *probe, const char *key)
{
	const json_t *value = json_object_get(probe, key);

	return json_is_integer(value) ? json_integer_value(value) : STORE_NULL;
}

static int finish_probes(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	const json_t *probes = json_object_get(model_run_json(a->run), "probes");
	struct analyze_table *t;

	(void)state, (void)err;
	if (!json_array_size(probes)) {
		analyze_absent(s, "the run has no list of probes");
		return 0;
	}
	t = analyze_table(s, "probes", "Probes", probe_columns, 5, 0);
	for (size_t i = 0; i < json_array_size(probes); i++) {
		const json_t *probe = json_array_get(probes, i);

		analyze_cell_text(t, json_string_value(json_object_get(probe, "name")));
		analyze_cell_text(t, json_string_value(json_object_get(probe, "state")));
		analyze_cell_text(t, json_string_value(json_object_get(probe, "reason")));
		analyze_cell_int(t, number_of(probe, "events"));
		analyze_cell_int(t, number_of(probe, "dropped"));
	}
	return 0;
}

const struct analyze_pass analyze_pass_probes = { .key = "probes",
	.title = "Probes",
	.is_list = true,
	.finish = finish_probes };

/* Missing data: the sentences of the model. */

static const struct analyze_column loss_columns[] = { { "text", "MISSING", ANALYZE_TEXT } };

static void add_sentence(void *arg, const char *sentence)
{
	analyze_cell_text(arg, sentence);
}

static int finish_losses(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	struct analyze_table *t = analyze_table(s, "losses", "Missing", loss_columns, 1, 0);

	(void)state;
	return t ? model_losses(a->run, add_sentence, t, err) : 0;
}

const struct analyze_pass analyze_pass_losses = { .key = "losses",
	.title = "Missing",
	.is_list = true,
	.finish = finish_losses };
