/* Counters: their values. */
#include "analyze/pass-results.h"
#include "analyze/pass.h"

#include <errno.h>
#include <math.h>
#include <string.h>

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

/* Names that belong to a probe. Zeroed, by string id. */
struct series {
	uint8_t *is_of_probe;
	size_t count;
};

static int on_names(void *arg, unsigned worker, size_t block, const struct store_batch *b)
{
	struct series *s = arg;
	const int64_t *names = b->columns[STORE_SERIES_name].ints;

	(void)worker, (void)block;
	for (size_t i = 0; i < b->rows; i++)
		if ((uint64_t)names[i] < s->count)
			s->is_of_probe[names[i]] = 1;
	return 0;
}

static int load_series(struct analyze *a, struct series *s, struct sonde_err *err)
{
	static const int cols[] = { STORE_SERIES_name };
	struct store_scan_opts opts = { .cols = cols, .ncols = 1, .threads = 1 };
	struct store_table *t = model_table(a->run, STORE_TABLE_SERIES);

	s->count = model_name_count(a->run);
	s->is_of_probe = arena_alloc(&a->arena, s->count + 1);
	if (!s->is_of_probe)
		return err_sys(err, ENOMEM, "cannot list the counters");
	return t ? store_scan(t, &opts, on_names, s, err) : 0;
}

/* Returns the group of a counter; SIZE_MAX: none. */
static size_t find_counter(const struct analyze *a, const struct engine_groups *g, const char *name)
{
	for (size_t i = 0; i < g->count; i++) {
		const char *found = model_cname(a->run, engine_key(g, i, 0));

		if (found && strcmp(found, name) == 0)
			return i;
	}
	return SIZE_MAX;
}

static const struct engine_groups *groups_of(const struct analyze *a)
{
	const struct counters *c = analyze_state(a, "counters");

	return analyze_groups(a, STORE_TABLE_COUNTER, c->by_name);
}

double counters_quantile(const struct analyze *a, const char *name, double p)
{
	const struct engine_groups *g = groups_of(a);
	size_t i = g->has_no_quantiles ? SIZE_MAX : find_counter(a, g, name);

	return i == SIZE_MAX ? NAN : engine_quantile(g, VALUES, i, p);
}

double counters_most(const struct analyze *a, const char *name)
{
	return counters_quantile(a, name, 1);
}

double counters_mean(const struct analyze *a, const char *name)
{
	const struct engine_groups *g = groups_of(a);
	size_t i = find_counter(a, g, name);

	return i == SIZE_MAX ? NAN : engine_mean(g, SUM, i);
}

/* Adds the counters of the program, which are printed, or those of probes. */
static void add_counters(struct analyze *a, struct analyze_section *s, const struct engine_groups *g,
		const struct series *series, bool is_of_probe)
{
	struct analyze_table *t = analyze_table(s, is_of_probe ? "of_probes" : "by_name", "Counters", columns,
			sizeof(columns) / sizeof(*columns), is_of_probe ? ANALYZE_DETAIL : 0);
	size_t count = 0;

	for (size_t i = 0; i < g->count; i++) {
		int64_t name = engine_key(g, i, 0);

		if (((uint64_t)name < series->count && series->is_of_probe[name]) != is_of_probe)
			continue;
		if (count++ < analyze_top(a, g->count)) {
			analyze_cell_bytes(t, model_name(a->run, engine_key(g, i, 0)));
			analyze_cell_int(t, (int64_t)engine_count(g, SUM, i));
			analyze_cell_real(t, engine_quantile(g, VALUES, i, 0));
			analyze_cell_real(t, engine_quantile(g, VALUES, i, 0.25));
			analyze_cell_real(t, engine_quantile(g, VALUES, i, 0.5));
			analyze_cell_real(t, engine_mean(g, SUM, i));
			analyze_cell_real(t, engine_quantile(g, VALUES, i, 0.75));
			analyze_cell_real(t, engine_quantile(g, VALUES, i, 1));
		}
	}
	if (t)
		t->all_rows = count;
}

static int finish(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err)
{
	const struct engine_groups *g = analyze_groups(a, STORE_TABLE_COUNTER, ((struct counters *)state)->by_name);
	struct series series;
	int rc;

	if (!g->count) {
		analyze_absent(s, "no counters were recorded");
		return 0;
	}
	rc = load_series(a, &series, err);
	if (rc < 0)
		return rc;
	analyze_int(s, "counters", "counters", ANALYZE_COUNT, (int64_t)g->count);
	add_counters(a, s, g, &series, false);
	add_counters(a, s, g, &series, true);
	return 0;
}

const struct analyze_pass analyze_pass_counters = { .key = "counters",
	.title = "Counters",
	.state_bytes = sizeof(struct counters),
	.plan = plan,
	.finish = finish };
