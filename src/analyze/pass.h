/*
 * pass: one analysis, one file.
 *
 * A pass has a row in passes.def and a struct analyze_pass. `plan` adds queries to the plans of tables; `finish`
 * reads the answers and fills the pass's section. A scan does not keep rows in order; a pass that needs an order
 * reads the rows itself in `feed` and adds the result to a separate plan (analyze_fed). Only part 0 does that. See
 * doc/howto-add-a-pass.md.
 */
#ifndef SONDE_ANALYZE_PASS_H
#define SONDE_ANALYZE_PASS_H

#include "analyze/analyze.h"
#include "analyze/layer-rules.h"
#include "engine/plan.h"
#include "model/dimensions.h"
#include "result/result.h"

struct analyze_pass {
	const char *key, *title; /* of its section */
	bool is_top, is_list;    /* see struct analyze_section */
	size_t state_bytes;      /* of its state from plan to finish, zeroed */
	int (*plan)(struct analyze *a, void *state, struct sonde_err *err); /* NULL: no queries */
	int (*feed)(struct analyze *a, void *state, struct sonde_err *err); /* NULL: nothing to read */
	int (*finish)(struct analyze *a, void *state, struct analyze_section *s, struct sonde_err *err);
};

#define ANALYZE_PASSES_MAX 24
#define ANALYZE_FED_MAX 8
#define ANALYZE_BUCKETS 60 /* of the view by time */

struct analyze {
	struct model_run *run;
	struct analyze_opts opts;
	int64_t start_ns, end_ns; /* the analyzed range; both STORE_NULL: no row has a time */
	int64_t bucket_ns;
	struct rules rules;
	struct engine_plan *plans[STORE_TABLE_COUNT]; /* NULL: the run has no such table */
	struct engine_plan *fed[ANALYZE_FED_MAX];     /* of rows that passes feed, with span's schema */
	unsigned fed_count;
	int io_columns[16], span_columns[4]; /* derived columns, see columns.h; 0: not added yet */
	struct analyze_columns *columns;
	void *states[ANALYZE_PASSES_MAX];
	struct arena arena;
	struct analyze_result result;
	bool is_scanned;
};

/* Number of rows of a list to show. */
size_t analyze_top(const struct analyze *a, size_t count);
/* Adds a query to a table's plan. Returns its number; -ENOENT if the run lacks the table. */
int analyze_query(struct analyze *a, enum store_table_id table, const struct engine_query *query);
/* Returns the answer to a query. */
const struct engine_groups *analyze_groups(const struct analyze *a, enum store_table_id table, int query);
/* Creates a plan with one query, for rows that the pass computes; columns are numbered as span's. */
int analyze_fed(struct analyze *a, const struct engine_query *query, int *number, struct sonde_err *err);
const struct engine_groups *analyze_fed_groups(const struct analyze *a, int number);

/* Sorting rows: largest weight first, stable. */
struct analyze_rank {
	int64_t weight;
	size_t index;
};
void analyze_rank(struct analyze_rank *ranks, size_t count);
/* Allocates so many, zeroed; valid as long as a. NULL: out of memory, and a->result.error is set. */
struct analyze_rank *analyze_ranks(struct analyze *a, size_t count);

/* The state of another pass, by its key; NULL if there is no such pass. */
const void *analyze_state(const struct analyze *a, const char *key);

extern const struct analyze_pass *const analyze_passes[]; /* ended by NULL */

#endif
