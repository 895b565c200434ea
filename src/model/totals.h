/*
 * totals: count, time and bytes by call and by path.
 *
 * Bytes are those of model_call_bytes. One pass over the table io.
 */
#ifndef SONDE_MODEL_TOTALS_H
#define SONDE_MODEL_TOTALS_H

#include "base/err.h"
#include "model/run-model.h"

#include <stddef.h>
#include <stdint.h>

struct model_total {
	struct store_text name;     /* of the call, or the path */
	struct store_text category; /* of the call; null for paths and when unknown */
	uint64_t calls;
	uint64_t errors;
	uint64_t bytes;
	int64_t total_ns; /* of calls with a recorded end */
};

struct model_totals {
	struct model_total *calls; /* most time first */
	size_t call_count;
	struct model_total *paths; /* in order of first occurrence */
	size_t path_count;
};

int model_totals_make(struct model_run *run, struct model_totals *totals, struct sonde_err *err);
/* Only calls that start in [from, to). */
int model_totals_between(struct model_run *run, int64_t from_ns, int64_t to_ns, struct model_totals *totals,
		struct sonde_err *err);
void model_totals_release(struct model_totals *totals);

/* Sort in descending order, then by name. */
void model_sort_by_time(struct model_total *totals, size_t count);
void model_sort_by_bytes(struct model_total *totals, size_t count);

#endif
