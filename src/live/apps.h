/*
 * apps: the boards of this user's running programs, summed by application.
 *
 * A program is visible if it has a ring directory (a recording, or `sonde live run`) and uses metrics or steps.
 * Metrics of the same name are summed over the processes of an application; for gauges the newest value is used. A
 * rate is two series: a counter, and its increase per second. A process that has exited is not visible any more.
 */
#ifndef SONDE_LIVE_APPS_H
#define SONDE_LIVE_APPS_H

#include "base/err.h"
#include "base/map.h"
#include "live/watch.h"
#include "sonde/shm.h"

#include <stddef.h>
#include <stdint.h>

struct live_app {
	char name[LIVE_NAME_BYTES];
	struct live_entry *first; /* the first process, valid until the next refresh; NULL: without a board */
	uint64_t processes, rejected;
	double cpu_seconds;
	uint64_t resident_bytes;
};

struct live_histogram {
	double sum;
	uint64_t count;
	double greatest; /* NaN: none */
	pid_t greatest_pid;
	uint64_t buckets[SONDE_HISTOGRAM_BUCKETS];
};

struct live_series {
	size_t app;
	char name[SONDE_NAME_BYTES];
	uint32_t kind; /* enum sonde_metric_kind */
	uint64_t count;
	double value; /* COUNTER: sum, GAUGE and STEP: last value, RATE: events per second; NaN: none yet */
	uint64_t ticks;
	double sum;         /* STEP: sum of the intervals between steps, in seconds */
	uint64_t intervals; /* number of intervals in `sum` */
	size_t histogram;   /* HISTOGRAM: 1 + its index; 0 if none */
};

struct live_scan {
	struct live_app *apps;
	size_t app_count;
	struct live_series *series;
	size_t series_count;
	struct live_histogram *histograms;
	size_t histogram_count;
	uint64_t dropped; /* series beyond the limit */
	/* private */
	struct map app_index, series_index;
	size_t series_cap, app_cap, histogram_cap;
};

#define LIVE_SERIES_MAX 2000
#define LIVE_APPS_MAX 500

/* Parts to read; applications and their processes are always read. */
enum live_parts {
	LIVE_GROUPS = 1,
	LIVE_NODE = 2,
	LIVE_OURSELVES = 4,
	LIVE_STEPS = 8,
	LIVE_METRICS = 16,
	LIVE_DISTRIBUTIONS = 32, /* of metrics and of the intervals between steps */
	LIVE_DEVICES = 64,       /* GPUs, energy meters */
	LIVE_ALL = 127,
};

/* Reads the boards of a watch that was just refreshed. series_max 0: LIVE_SERIES_MAX. Fails only if out of memory. */
int live_scan(struct live_scan *s, struct live_watch *w, unsigned parts, size_t series_max, int64_t age_ns,
		struct sonde_err *err);
/* Adds values from other sources: a gauge; rejected updates. */
int live_scan_gauge(struct live_scan *s, size_t series_max, const char *app, const char *name, double value);
int live_scan_rejected(struct live_scan *s, const char *app, uint64_t count);
void live_scan_release(struct live_scan *s);

#endif
