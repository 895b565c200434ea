/* plan-private: shared by plan.c and plan-run.c. Private to engine/. */
#ifndef SONDE_ENGINE_PLAN_PRIVATE_H
#define SONDE_ENGINE_PLAN_PRIVATE_H

#include "engine/group-by.h"
#include "engine/plan.h"

/* The state of one thread. */
struct plan_worker {
	struct group_table tables[ENGINE_QUERIES_MAX];
	struct arena arena;
	struct heap heap;
	struct aggregate_memory memory;
	uint32_t *slots, *started; /* of all rows; of those that start in the window */
	int64_t *derived[ENGINE_DERIVED_MAX];
	int64_t *cut[STORE_COLUMNS_MAX]; /* columns of the rows that touch the window */
	int64_t *clipped[2];             /* their start and duration inside it */
};

struct engine_plan {
	const struct store_schema *schema;
	int time, duration; /* columns, or ENGINE_NONE */
	unsigned derive_count, query_count;
	struct engine_derive derives[ENGINE_DERIVED_MAX];
	struct engine_query queries[ENGINE_QUERIES_MAX];
	bool is_needed[ENGINE_COLUMNS_MAX];
	struct plan_worker **workers;
	unsigned worker_count;
	struct engine_groups groups[ENGINE_QUERIES_MAX];
};

/* Create workers until there are at least `count`. */
int plan_workers(struct engine_plan *plan, unsigned count, size_t cover_bytes);

#endif
