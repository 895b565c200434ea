/*
 * call-sums: derived columns of the table io, and sums of calls by name and by path.
 *
 * What a call means (its kind, its bytes) comes from the model. A copy counts on both of its files: its bytes are read
 * from `file` and written to `file2`; its time counts on `file` alone, so that paths add up to the time of calls.
 */
#ifndef SONDE_ENGINE_CALL_SUMS_H
#define SONDE_ENGINE_CALL_SUMS_H

#include "engine/plan.h"
#include "model/dimensions.h"

enum engine_call_column {
	ENGINE_CALL_BYTES,    /* moved; null if the call moves none or the number is unknown */
	ENGINE_CALL_MOVED,    /* the same, null for 0 bytes too */
	ENGINE_CALL_PATH,     /* number of the path of `file`, 0: none */
	ENGINE_CALL_PATH2,    /* the same of `file2` */
	ENGINE_CALL_KIND,     /* enum call_kind; OTHER if unknown */
	ENGINE_CALL_IS_ERROR, /* 1 or 0 */
	ENGINE_CALL_COLUMNS
};

/*
 * Add the column to a plan on the table io; its number, or -E2BIG. The run must outlive the plan, have its calls
 * loaded, and for paths model_paths_load.
 */
int engine_call_column(struct engine_plan *plan, const struct model_run *run, enum engine_call_column column);

struct call_sum {
	struct store_text name;     /* of the call, or the path */
	struct store_text category; /* of the call; null for paths and when unknown */
	uint64_t calls, errors, bytes;
	int64_t total_ns;
};

struct call_sums {
	struct call_sum *calls; /* most time first */
	size_t call_count;
	struct call_sum *paths; /* most time first */
	size_t path_count;
	bool has_too_many_paths; /* more than ENGINE_GROUPS_MAX; then there are none */
};

/* One scan of the table io; a run without it has no calls. */
int call_sums_read(struct call_sums *sums, struct model_run *run, const struct engine_run_opts *opts,
		struct sonde_err *err);
void call_sums_release(struct call_sums *sums);
/* Sort in descending order, then by name. */
void call_sums_by_time(struct call_sum *sums, size_t count);
void call_sums_by_bytes(struct call_sum *sums, size_t count);

#endif
