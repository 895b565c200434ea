/* The range of a span or step by name. */
#include "analyze/analyze.h"
#include "analyze/pass.h"

#include <errno.h>
#include <string.h>

/* The end of each row: start plus duration. */
static void fill_end(const void *arg, const struct engine_rows *rows, int64_t *out)
{
	const int *columns = arg;

	for (size_t i = 0; i < rows->count; i++) {
		int64_t dur_ns = columns[1] >= 0 ? rows->ints[columns[1]][i] : 0;

		out[i] = rows->ints[columns[0]][i];
		if (out[i] != STORE_NULL && dur_ns > 0 && __builtin_add_overflow(out[i], dur_ns, &out[i]))
			out[i] = INT64_MAX;
	}
}

struct range {
	int64_t from_ns, to_ns;
};

/* Columns: start, duration or -1, name. */
static int widen(struct model_run *run, enum store_table_id id, const int columns[3], const char *name, struct range *r,
		struct sonde_err *err)
{
	struct engine_derive end = { .fill = fill_end,
		.arg = columns,
		.need_count = columns[1] >= 0 ? 2 : 1,
		.needs = { columns[0], columns[1] } };
	struct engine_query q = { "range", 1, { columns[2] }, ENGINE_NONE, 2, { { ENGINE_MIN, columns[0] } } };
	struct engine_run_opts opts = { .threads = 0 };
	struct engine_plan *plan;
	int rc = engine_plan_new(&plan, store_schemas[id], err);

	if (rc < 0)
		return rc;
	q.aggregates[1] = (struct engine_aggregate){ ENGINE_MAX, engine_plan_derive(plan, &end) };
	engine_plan_query(plan, &q);
	rc = engine_plan_run(plan, model_table(run, id), &opts, err);
	if (rc == 0)
		rc = engine_plan_finish(plan, err);
	for (size_t i = 0; rc == 0 && i < engine_plan_groups(plan, 0)->count; i++) {
		const struct engine_groups *g = engine_plan_groups(plan, 0);
		const char *found = model_cname(run, engine_key(g, i, 0));
		int64_t from = engine_extreme(g, 0, i), to = engine_extreme(g, 1, i);

		if (!found || strcmp(found, name) != 0 || from == STORE_NULL)
			continue;
		r->from_ns = r->from_ns == STORE_NULL || from < r->from_ns ? from : r->from_ns;
		r->to_ns = r->to_ns == STORE_NULL || to > r->to_ns ? to : r->to_ns;
	}
	engine_plan_free(plan);
	return rc;
}

int analyze_named_range(struct model_run *run, const char *name, int64_t *from_ns, int64_t *to_ns,
		struct sonde_err *err)
{
	static const int span[] = { STORE_SPAN_ts_ns, STORE_SPAN_dur_ns, STORE_SPAN_name };
	static const int step[] = { STORE_STEP_ts_ns, -1, STORE_STEP_name };
	struct range r = { STORE_NULL, STORE_NULL };
	int rc = model_load(run, MODEL_NAMES, err);

	if (rc == 0 && model_table(run, STORE_TABLE_SPAN))
		rc = widen(run, STORE_TABLE_SPAN, span, name, &r, err);
	if (rc == 0 && model_table(run, STORE_TABLE_STEP))
		rc = widen(run, STORE_TABLE_STEP, step, name, &r, err);
	if (rc == 0 && r.from_ns == STORE_NULL) {
		rc = err_set(err, ENOENT, "the run has no span and no step called '%s'", name);
		err_hint(err, "a region is a name, or two times since the start: 1s,2.5s");
	}
	*from_ns = r.from_ns;
	*to_ns = r.to_ns;
	return rc;
}
