/*
 * apps: what the programs of this user that run now have on their boards.
 *
 * A program is seen when it has a ring directory (a recording, or `sonde live run`) and uses
 * metrics or steps. What several processes of an application have under one name is added
 * up; of gauges the newest counts. A rate is two series: a counter, and what that grows by a
 * second. A process that has ended is not seen any more.
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
	struct live_entry *first; /* of its processes, valid until the next refresh; NULL: it has no board */
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
	double value; /* COUNTER the sum, GAUGE and STEP the last, RATE the events a second; NaN: none yet */
	uint64_t ticks;
	double sum;         /* STEP: of the seconds between steps */
	uint64_t intervals; /* what `sum` is the sum of */
	size_t histogram;   /* HISTOGRAM: 1 + its index; 0: none */
};

struct live_scan {
	struct live_app *apps;
	size_t app_count;
	struct live_series *series;
	size_t series_count;
	struct live_histogram *histograms;
	size_t histogram_count;
	uint64_t dropped; /* series beyond the cap */
	/* private */
	struct map app_index, series_index;
	size_t series_cap, app_cap, histogram_cap;
};

#define LIVE_SERIES_MAX 2000
#define LIVE_APPS_MAX 500

/* What is asked for; applications and their processes always are. */
enum live_parts {
	LIVE_GROUPS = 1,
	LIVE_NODE = 2,
	LIVE_OURSELVES = 4,
	LIVE_STEPS = 8,
	LIVE_METRICS = 16,
	LIVE_DISTRIBUTIONS = 32, /* of metrics and of the time between steps */
	LIVE_DEVICES = 64,       /* GPUs, meters of energy */
	LIVE_ALL = 127,
};

/* What the watch, just refreshed, can read. series_max 0: LIVE_SERIES_MAX. Only want of memory fails. */
int live_scan(struct live_scan *s, struct live_watch *w, unsigned parts, size_t series_max, int64_t age_ns,
		struct sonde_err *err);
/* What came another way: a gauge, updates that were rejected. */
int live_scan_gauge(struct live_scan *s, size_t series_max, const char *app, const char *name, double value);
int live_scan_rejected(struct live_scan *s, const char *app, uint64_t count);
void live_scan_release(struct live_scan *s);

#endif
