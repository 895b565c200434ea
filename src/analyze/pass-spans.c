/* Spans: by name and category, with self time. */
#include "analyze/pass.h"
#include "analyze/selftime.h"

struct spans {
	int by_name, inner;
};

enum { Q_COUNT, Q_DUR, Q_DURS };

static int plan(struct analyze *a, void *state, struct sonde_err *err)
{
	struct spans *s = state;
	struct engine_query by_name = { "spans", 2, { STORE_SPAN_name, STORE_SPAN_category }, ENGINE_NONE, 3,
		{ [Q_COUNT] = { ENGINE_COUNT, ENGINE_NONE },
				[Q_DUR] = { ENGINE_SUM, STORE_SPAN_dur_ns },
				[Q_DURS] = { ENGINE_QUANTILES, STORE_SPAN_dur_ns } } };
	struct engine_query inner = { "spans inside", 2, { STORE_SPAN_name, STORE_SPAN_category }, ENGINE_NONE, 1,
		{ { ENGINE_SUM, STORE_SPAN_dur_ns } } };

	s->by_name = analyze_query(a, STORE_TABLE_SPAN, &by_name);
	return analyze_fed(a, &inner, &s->inner, err);
}

static int feed(struct analyze *a, void *state, struct sonde_err *err)
{
	return selftime_feed(a, a->fed[((struct spans *)state)->inner], err);
}

static const struct analyze_column columns[] = {
	{ "name", "SPAN", ANALYZE_TEXT },
	{ "category", "CATEGORY", ANALYZE_TEXT },
	{ "count", "COUNT", ANALYZE_COUNT },
	{ "total_ns", "TIME", ANALYZE_NS },
	{ "self_ns", "SELF", ANALYZE_NS },
	{ "min_ns", NULL, ANALYZE_NS },
	{ "median_ns", "MEDIAN", ANALYZE_NS },
	{ "mean_ns", NULL, ANALYZE_REAL },
	{ "p99_ns", "P99", ANALYZE_NS },
	{ "max_ns", "MAX", ANALYZE_NS },
};

/* Both group lists have the same order; spans without inner spans have no group. */
static int64_t inner_ns(const struct engine_groups *inner, int64_t name, int64_t category)
{
	size_t low = 0, high = inner->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		int64_t first = engine_key(inner, middle, 0), second = engine_key(inner, middle, 1);

		if (first < name || (first == name && second < category))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == inner->count || engine_key(inner, low, 0) != name || engine_key(inner, low, 1) != category)
		return 0;
	return engine_sum(inner, 0, low);
}

static void cell_quantile(struct analyze_table *t, const struct engine_groups *g, size_t i, double p)
{
	double v = engine_quantile(g, Q_DURS, i, p);

	analyze_cell_int(t, v != v ? STORE_NULL : (int64_t)(v + 0.5));
}

static void add_span(struct analyze *a, struct analyze_table *t, const struct engine_groups *g, size_t i,
		const struct engine_groups *inner)
{
	int64_t name = engine_key(g, i, 0), category = engine_key(g, i, 1), total_ns = engine_sum(g, Q_DUR, i);

	analyze_cell_bytes(t, model_name(a->run, name));
	analyze_cell_bytes(t, model_name(a->run, category));
	analyze_cell_int(t, (int64_t)engine_count(g, Q_COUNT, i));
	analyze_cell_int(t, total_ns);
	analyze_cell_int(t, total_ns - inner_ns(inner, name, category));
	cell_quantile(t, g, i, 0);
	cell_quantile(t, g, i, 0.5);
	analyze_cell_real(t, engine_mean(g, Q_DUR, i));
	cell_quantile(t, g, i, 0.99);
	cell_quantile(t, g, i, 1);
}

static int finish(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	const struct spans *spans = state;
	const struct engine_groups *g = analyze_groups(a, STORE_TABLE_SPAN, spans->by_name);
	const struct engine_groups *inner = analyze_fed_groups(a, spans->inner);
	struct analyze_rank *ranks;
	struct analyze_table *t;

	(void)err;
	if (!g->count) {
		analyze_absent(s, g->is_over ? "there are too many different spans" : "no spans were recorded");
		return 0;
	}
	ranks = analyze_ranks(a, g->count);
	t = analyze_table(s, "by_name", "Spans by their own time", columns, sizeof(columns) / sizeof(*columns), 0);
	for (size_t i = 0; ranks && i < g->count; i++)
		ranks[i] = (struct analyze_rank){ .weight = engine_sum(g, Q_DUR, i) -
					inner_ns(inner, engine_key(g, i, 0), engine_key(g, i, 1)),
			.index = i };
	analyze_rank(ranks, ranks ? g->count : 0);
	for (size_t i = 0; ranks && i < analyze_top(a, g->count); i++)
		add_span(a, t, g, ranks[i].index, inner);
	if (t)
		t->all_rows = g->count;
	return 0;
}

const struct analyze_pass analyze_pass_spans = { .key = "spans",
	.title = "Spans",
	.state_bytes = sizeof(struct spans),
	.plan = plan,
	.feed = feed,
	.finish = finish };
