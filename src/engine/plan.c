/* All queries on one table: creating a plan, its workers and results. */
#include "engine/plan-private.h"

#include <errno.h>
#include <stdlib.h>

static int column_of(const struct store_schema *schema, enum store_semantic semantic)
{
	for (unsigned c = 0; c < schema->count; c++)
		if (schema->columns[c].semantic == semantic)
			return (int)c;
	return ENGINE_NONE;
}

int engine_plan_new(struct engine_plan **out, const struct store_schema *schema, struct sonde_err *err)
{
	struct engine_plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return err_sys(err, ENOMEM, "cannot plan a scan of the table '%s'", schema->name);
	plan->schema = schema;
	plan->time = column_of(schema, STORE_TIME);
	plan->duration = column_of(schema, STORE_DURATION);
	*out = plan;
	return 0;
}

static void worker_free(struct plan_worker *w)
{
	if (!w)
		return;
	for (unsigned q = 0; q < ENGINE_QUERIES_MAX; q++)
		group_table_release(&w->tables[q]);
	aggregate_memory_release(&w->memory);
	heap_release(&w->heap);
	arena_release(&w->arena);
	for (unsigned i = 0; i < ENGINE_DERIVED_MAX; i++)
		free(w->derived[i]);
	for (unsigned i = 0; i < STORE_COLUMNS_MAX; i++)
		free(w->cut[i]);
	free(w->slots);
	free(w);
}

void engine_plan_free(struct engine_plan *plan)
{
	if (!plan)
		return;
	for (unsigned q = 0; q < plan->query_count; q++)
		groups_release(&plan->groups[q]);
	for (unsigned i = 0; i < plan->worker_count; i++)
		worker_free(plan->workers[i]);
	free(plan->workers);
	free(plan);
}

static void need(struct engine_plan *plan, int column)
{
	if (column >= 0)
		plan->is_needed[column] = true;
}

int engine_plan_derive(struct engine_plan *plan, const struct engine_derive *derive)
{
	if (plan->derive_count == ENGINE_DERIVED_MAX)
		return -E2BIG;
	plan->derives[plan->derive_count] = *derive;
	for (unsigned i = 0; i < derive->need_count; i++)
		need(plan, derive->needs[i]);
	return STORE_COLUMNS_MAX + (int)plan->derive_count++;
}

int engine_plan_query(struct engine_plan *plan, const struct engine_query *query)
{
	if (plan->query_count == ENGINE_QUERIES_MAX)
		return -E2BIG;
	plan->queries[plan->query_count] = *query;
	need(plan, query->filter);
	for (unsigned k = 0; k < query->key_count; k++)
		need(plan, query->keys[k]);
	for (unsigned a = 0; a < query->aggregate_count; a++) {
		need(plan, query->aggregates[a].column);
		if (query->aggregates[a].op >= ENGINE_UNION) {
			need(plan, plan->time);
			need(plan, plan->duration);
		}
	}
	return (int)plan->query_count++;
}

bool engine_plan_is_empty(const struct engine_plan *plan)
{
	return plan->query_count == 0;
}

static struct plan_worker *worker_new(const struct engine_plan *plan)
{
	struct plan_worker *w = calloc(1, sizeof(*w));
	bool is_failed;

	if (!w)
		return NULL;
	arena_init(&w->arena);
	heap_init(&w->heap, 0);
	w->memory = (struct aggregate_memory){ .arena = &w->arena, .heap = &w->heap };
	w->slots = calloc(STORE_BLOCK_ROWS, sizeof(*w->slots));
	is_failed = !w->slots;
	for (unsigned i = 0; i < plan->derive_count && !is_failed; i++) {
		w->derived[i] = aligned_alloc(64, STORE_BLOCK_ROWS * sizeof(int64_t));
		is_failed = !w->derived[i];
	}
	for (unsigned q = 0; q < plan->query_count && !is_failed; q++)
		is_failed = group_table_init(&w->tables[q], &plan->queries[q]) < 0;
	if (!is_failed)
		return w;
	worker_free(w);
	return NULL;
}

int plan_workers(struct engine_plan *plan, unsigned count, size_t cover_bytes)
{
	struct plan_worker **workers = reallocarray(plan->workers, count, sizeof(*workers));

	if (!workers)
		return -ENOMEM;
	plan->workers = workers;
	while (plan->worker_count < count) {
		workers[plan->worker_count] = worker_new(plan);
		if (!workers[plan->worker_count])
			return -ENOMEM;
		plan->worker_count++;
	}
	for (unsigned i = 0; i < plan->worker_count; i++)
		workers[i]->heap.budget_bytes = cover_bytes / plan->worker_count;
	return 0;
}

/* Merge everything into the first worker's tables, then build the results from them. */
int engine_plan_finish(struct engine_plan *plan, struct sonde_err *err)
{
	int rc = plan->worker_count ? 0 : plan_workers(plan, 1, INTERVAL_SET_BYTES);

	for (unsigned q = 0; q < plan->query_count && rc == 0; q++) {
		struct group_table *all = &plan->workers[0]->tables[q];

		for (unsigned i = 1; i < plan->worker_count && rc == 0; i++) {
			rc = group_table_merge(all, &plan->workers[i]->tables[q], &plan->workers[0]->memory);
			group_table_release(&plan->workers[i]->tables[q]);
		}
		if (rc == 0)
			rc = group_table_finish(all, &plan->groups[q]);
	}
	return rc < 0 ? err_sys(err, -rc, "cannot merge the results of '%s'", plan->schema->name) : 0;
}

const struct engine_groups *engine_plan_groups(const struct engine_plan *plan, int query)
{
	return &plan->groups[query];
}

int engine_plan_save(const struct engine_plan *plan, struct buf *out)
{
	int rc = 0;

	pack_text(out, plan->schema->name);
	pack_uint(out, plan->query_count);
	for (unsigned q = 0; q < plan->query_count && rc == 0; q++)
		rc = groups_save(&plan->groups[q], out);
	return rc;
}

int engine_plan_load(struct engine_plan *plan, struct unpack *u, struct sonde_err *err)
{
	int rc = plan->worker_count ? 0 : plan_workers(plan, 1, INTERVAL_SET_BYTES);

	u->is_bad |= !unpack_is_text(u, plan->schema->name);
	u->is_bad |= unpack_uint(u) != plan->query_count;
	for (unsigned q = 0; q < plan->query_count && rc == 0 && !u->is_bad; q++)
		rc = group_table_load(&plan->workers[0]->tables[q], u, &plan->workers[0]->memory);
	if (rc < 0)
		return err_sys(err, -rc, "cannot read a part");
	return u->is_bad ? err_set(err, EBADMSG, "the part is damaged, or of another version of sonde") : 0;
}
