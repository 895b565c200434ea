/* history: results of comparisons over time, in SQLite, and where the level of B changed. */
#ifndef SONDE_DUET_HISTORY_H
#define SONDE_DUET_HISTORY_H

#include "duet/duet-report.h"
#include "stats/series.h"

struct duet_point {
	const char *at, *label, *verdict; /* at: UTC, ISO 8601 */
	double ratio, lo, hi, b;          /* b: the median of B */
};

struct duet_series {
	const char *name, *metric;
	struct duet_point *points;
	size_t count;
	struct stats_segment *segments; /* of ln(b); one segment: no change */
	size_t segment_count;
};

/* Adds the entries of a report. Creates the file if missing. */
int duet_history_add(const char *path, const char *name, const char *label, const struct duet_report *r,
		struct sonde_err *err);
/* Reads all series by name and metric, with their changes. Memory from the arena. */
int duet_history_read(const char *path, struct duet_series **series, size_t *count, struct arena *arena,
		struct sonde_err *err);

#endif
