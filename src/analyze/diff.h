/*
 * diff: what changed between two runs, or two sets of runs.
 *
 * Each run's result is turned into quantities: the fields of its sections and the rows
 * of its lists, each known by its path ("io.by_call read total_ns"). Quantities of the
 * same path are compared. Where both sides have two runs or more the change has an
 * interval (Welch's t on the runs); with one run each there is none, and none is
 * claimed. What a run does not have is not zero unless its list was recorded there.
 */
#ifndef SONDE_ANALYZE_DIFF_H
#define SONDE_ANALYZE_DIFF_H

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"
#include "result/result.h"

enum diff_verdict { DIFF_UNKNOWN, DIFF_SAME, DIFF_SLOWER, DIFF_FASTER };

struct diff_item {
	const char *list;  /* "io.by_call"; "" for fields that stand alone */
	const char *name;  /* of the row: "read"; "" for fields */
	const char *key;   /* "total_ns" */
	const char *title; /* of the field or column, for people; NULL: none */
	enum analyze_unit unit;
	double *a, *b; /* of each run; NaN: not there */
	double mean_a, mean_b;
	double change;  /* mean_b - mean_a */
	double lo, hi;  /* of the change; NaN: no interval */
	bool is_sure;   /* there is an interval, and zero is outside */
	uint64_t order; /* of its first sight */
};

struct diff {
	size_t count_a, count_b; /* runs */
	struct diff_item *items; /* sure ones first, then largest changes of time, then of the others */
	size_t count;
	/* Of the wall time, B over A; lo and hi NaN with one run each. */
	double ratio, lo, hi;
	enum diff_verdict verdict; /* SLOWER and FASTER: beyond the threshold, surely where there is an interval */
	/* private */
	size_t cap;
	struct map by_path;
	struct arena arena;
};

#define DIFF_LEVEL 0.95

void diff_init(struct diff *d, size_t count_a, size_t count_b);
void diff_release(struct diff *d);
/* Take run number i of side A or B. -ENOMEM. */
int diff_take(struct diff *d, bool is_b, size_t i, const struct analyze_result *result, struct sonde_err *err);
/* All runs are taken. threshold: 0.05 is 5 % of the wall time. */
int diff_finish(struct diff *d, double threshold, struct sonde_err *err);
const char *diff_verdict_word(enum diff_verdict v);

#endif
