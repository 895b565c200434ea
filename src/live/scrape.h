/* scrape: all metrics that the exporter returns for a scrape. */
#ifndef SONDE_LIVE_SCRAPE_H
#define SONDE_LIVE_SCRAPE_H

#include "base/buf.h"
#include "base/err.h"
#include "live/apps.h"
#include "live/exposition.h"
#include "live/proc-metrics.h"
#include "live/push-receiver.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Metrics of GPUs and energy meters, if present.
 *
 * The devices are detected at the first read. NVML is queried at each read; the output of a command (nvidia-smi,
 * tegrastats) is read continuously by a separate thread, so that the newest value is shown. Values older than
 * READING_AGE_NS are not shown. Missing devices have no metric family.
 */

struct live_devices;

/* powercap NULL: /sys/class/powercap. Returns NULL if out of memory. */
struct live_devices *live_devices_open(const char *powercap);
void live_devices_free(struct live_devices *d); /* d may be NULL */
void live_devices_show(struct live_devices *d, struct exposition *x);

struct live_options {
	const char *const *rings; /* directories that contain ring directories; NULL: /dev/shm */
	size_t series_max;        /* 0: LIVE_SERIES_MAX */
	const char *powercap;     /* directory of the energy meters; NULL: the default of Linux */
	const struct live_group *groups;
	size_t group_count;
};

struct live_exporter {
	struct live_options options;
	const char *version;
	/* Writes additional metric families at the end; NULL: none. */
	void (*more)(void *arg, struct exposition *x);
	void *more_arg;
	struct live_pushed *pushed; /* NULL: none */
	/* private */
	pthread_mutex_t lock; /* serializes concurrent scrapes */
	struct live_watch watch;
	struct live_devices *devices; /* NULL before the first use */
	struct live_named_groups named;
	uint64_t scrapes, dropped; /* counted since the start */
	size_t page_bytes;
	uint64_t undelivered; /* failed pushes (metrics-push); atomic */
};

void live_exporter_init(struct live_exporter *e, const struct live_options *options, const char *version);
void live_exporter_release(struct live_exporter *e);
/* Metrics of the applications, the machine and the exporter itself. */
int live_metrics(struct live_exporter *e, enum exposition_format format, struct buf *out, struct sonde_err *err);
/*
 * The same as samples, for frequent use in this process: only these parts in addition to the applications, and a new
 * application may be seen half a second late.
 */
struct live_taker {
	unsigned parts;
	exposition_sink *sink;
	bool (*wants)(void *arg, const char *name); /* NULL: all */
	void *arg;
};
int live_samples(struct live_exporter *e, const struct live_taker *taker, struct sonde_err *err);
/* Calls `take` for every process of an application, with the lock held. */
void live_each_process(struct live_exporter *e, const char *app,
		void (*take)(void *arg, const struct live_ring *ring, const struct live_entry *entry), void *arg);

#endif
