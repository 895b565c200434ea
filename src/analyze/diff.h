/*
 * diff: what changed between two runs, or two sets of runs.
 *
 * Each run's result becomes quantities: the fields of its sections and the rows of its tables, each identified by a
 * path ("io.by_call read total_ns"). Quantities with the same path are compared. If both sides have two runs or more,
 * the change has an interval (Welch's t on the runs); with one run each it has none. A quantity that a run lacks is
 * not zero unless its table was recorded there.
 */
#ifndef SONDE_ANALYZE_DIFF_H
#define SONDE_ANALYZE_DIFF_H

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "result/result.h"

enum diff_verdict { DIFF_UNKNOWN, DIFF_SAME, DIFF_SLOWER, DIFF_FASTER };

struct diff_item {
	const char *list;  /* "io.by_call"; "" for fields outside a table */
	const char *name;  /* of the row: "read"; "" for fields */
	const char *key;   /* "total_ns" */
	const char *title; /* display name of the field or column; NULL: none */
	enum analyze_unit unit;
	double *a, *b; /* by run; NaN: missing */
	double mean_a, mean_b;
	double change;  /* mean_b - mean_a */
	double lo, hi;  /* of the change; NaN: no interval */
	bool is_sure;   /* the interval excludes zero */
	uint64_t order; /* of first appearance */
};

struct diff {
	size_t count_a, count_b; /* number of runs */
	struct diff_item *items; /* sure changes first, then by size: times, then the others */
	size_t count;
	/* Wall time, B over A; lo and hi are NaN with one run each. */
	double ratio, lo, hi;
	enum diff_verdict verdict; /* SLOWER and FASTER: beyond the threshold, and sure if there is an interval */
	/* private */
	size_t cap;
	struct map by_path;
	struct arena arena;
};

#define DIFF_LEVEL 0.95

void diff_init(struct diff *d, size_t count_a, size_t count_b);
void diff_release(struct diff *d);
/* Adds run i of side A or B. Returns -ENOMEM on failure. */
int diff_add(struct diff *d, bool is_b, size_t i, const struct analyze_result *result, struct sonde_err *err);
/* Call after all runs are added. threshold: 0.05 is 5 % of the wall time. */
int diff_finish(struct diff *d, double threshold, struct sonde_err *err);
const char *diff_verdict_word(enum diff_verdict v);

#endif
