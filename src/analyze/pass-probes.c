/* Probes: which ones worked, which did not and why, from run.json. */
#include <jansson.h>

#include "analyze/pass.h"

static const struct analyze_column columns[] = {
	{ "name", "PROBE", ANALYZE_TEXT },
	{ "state", "STATE", ANALYZE_TEXT },
	{ "reason", "WHY", ANALYZE_TEXT },
	{ "events", "EVENTS", ANALYZE_COUNT },
	{ "dropped", "DROPPED", ANALYZE_COUNT },
};

static int64_t number(const json_t *probe, const char *key)
{
	const json_t *value = json_object_get(probe, key);

	return json_is_integer(value) ? json_integer_value(value) : STORE_NULL;
}

static int finish(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	const json_t *probes = json_object_get(model_run_json(a->run), "probes");
	struct analyze_table *t;

	(void)state, (void)err;
	if (!json_array_size(probes)) {
		analyze_absent(s, "the run does not say which probes it had");
		return 0;
	}
	t = analyze_table(s, "probes", "Probes", columns, 5, 0);
	for (size_t i = 0; i < json_array_size(probes); i++) {
		const json_t *probe = json_array_get(probes, i);

		analyze_cell_text(t, json_string_value(json_object_get(probe, "name")));
		analyze_cell_text(t, json_string_value(json_object_get(probe, "state")));
		analyze_cell_text(t, json_string_value(json_object_get(probe, "reason")));
		analyze_cell_int(t, number(probe, "events"));
		analyze_cell_int(t, number(probe, "dropped"));
	}
	return 0;
}

const struct analyze_pass analyze_pass_probes = { .key = "probes",
	.title = "Probes",
	.is_list = true,
	.finish = finish };
