/* Counters: what values they had. */
#include "analyze/pass.h"

struct counters {
	int by_name;
};

enum { VALUES, SUM };

static int plan(struct analyze *a, void *state, struct sonde_err *err)
{
	struct engine_query by_name = { "counters", 1, { STORE_COUNTER_name }, ENGINE_NONE, 2,
		{ [VALUES] = { ENGINE_QUANTILES, STORE_COUNTER_value },
				[SUM] = { ENGINE_SUM_REAL, STORE_COUNTER_value } } };

	(void)err;
	((struct counters *)state)->by_name = analyze_query(a, STORE_TABLE_COUNTER, &by_name);
	return 0;
}

static const struct analyze_column columns[] = {
	{ "name", "COUNTER", ANALYZE_TEXT },
	{ "count", "COUNT", ANALYZE_COUNT },
	{ "min", "MIN", ANALYZE_REAL },
	{ "q1", NULL, ANALYZE_REAL },
	{ "median", "MEDIAN", ANALYZE_REAL },
	{ "mean", "MEAN", ANALYZE_REAL },
	{ "q3", NULL, ANALYZE_REAL },
	{ "max", "MAX", ANALYZE_REAL },
};

static int finish(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	const struct engine_groups *g = analyze_groups(a, STORE_TABLE_COUNTER, ((struct counters *)state)->by_name);
	struct analyze_table *t;

	(void)err;
	if (!g->count) {
		analyze_absent(s, "no counters were recorded");
		return 0;
	}
	t = analyze_table(s, "by_name", "Counters", columns, sizeof(columns) / sizeof(*columns), 0);
	for (size_t i = 0; i < analyze_top(a, g->count); i++) {
		analyze_cell_bytes(t, model_name(a->run, engine_key(g, i, 0)));
		analyze_cell_int(t, (int64_t)engine_count(g, SUM, i));
		analyze_cell_real(t, engine_quantile(g, VALUES, i, 0));
		analyze_cell_real(t, engine_quantile(g, VALUES, i, 0.25));
		analyze_cell_real(t, engine_quantile(g, VALUES, i, 0.5));
		analyze_cell_real(t, engine_mean(g, SUM, i));
		analyze_cell_real(t, engine_quantile(g, VALUES, i, 0.75));
		analyze_cell_real(t, engine_quantile(g, VALUES, i, 1));
	}
	if (t)
		t->all_rows = g->count;
	return 0;
}

const struct analyze_pass analyze_pass_counters = { .key = "counters",
	.title = "Counters",
	.state_bytes = sizeof(struct counters),
	.plan = plan,
	.finish = finish };
