/* metrics: everything that the exporter says at a scrape. */
#ifndef SONDE_LIVE_SCRAPE_H
#define SONDE_LIVE_SCRAPE_H

#include "base/buf.h"
#include "base/err.h"
#include "live/apps.h"
#include "live/devices.h"
#include "live/exposition.h"
#include "live/push-receiver.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* A control group that is shown whether or not its processes have boards. */
struct live_group {
	const char *app, *dir;
};

#define LIVE_GROUPS_MAX 256

struct live_named_groups { /* with their open files */
	const struct live_group *groups;
	size_t count;
	/* private */
	struct live_cgroup *dirs;
	struct live_group_files *files;
	int node_fds[LIVE_PRESSURES]; /* of the machine's own pressure; 0: not looked for; -1: it is not there */
};

struct live_options {
	const char *const *rings; /* directories in which ring directories are; NULL: /dev/shm */
	size_t series_max;        /* 0: LIVE_SERIES_MAX */
	const char *powercap;     /* where meters of energy are; NULL: where Linux has them */
	const struct live_group *groups;
	size_t group_count;
};

struct live_exporter {
	struct live_options options;
	const char *version;
	/* Families of somebody else's, at the end; NULL: none. */
	void (*more)(void *arg, struct exposition *x);
	void *more_arg;
	struct live_pushed *pushed; /* NULL: none */
	/* private */
	pthread_mutex_t lock; /* several scrapes at once take turns */
	struct live_watch watch;
	struct live_devices *devices; /* NULL: nobody has asked yet */
	struct live_named_groups named;
	uint64_t scrapes, dropped; /* counted over its life */
	size_t page_bytes;
	uint64_t undelivered; /* by an outlet; atomic */
};

void live_exporter_init(struct live_exporter *e, const struct live_options *options, const char *version);
void live_exporter_release(struct live_exporter *e);
/* The applications, the machine and ourselves, now. */
int live_metrics(struct live_exporter *e, enum exposition_format format, struct buf *out, struct sonde_err *err);
/* The same as samples, for those who look at them here, often: only these parts beside the applications, and half a
 * second may pass until a new application is seen. */
struct live_taker {
	unsigned parts;
	exposition_sink *sink;
	bool (*wants)(void *arg, const char *name); /* NULL: all */
	void *arg;
};
int live_samples(struct live_exporter *e, const struct live_taker *taker, struct sonde_err *err);
/* Every process of an application; the lock is held meanwhile. */
void live_each_process(struct live_exporter *e, const char *app,
		void (*take)(void *arg, const struct live_ring *ring, const struct live_entry *entry), void *arg);

/* The machine's processors, memory and pressure; the control groups of applications, and those that are named. */
void live_node(struct exposition *x);
void live_groups(struct exposition *x, const struct live_scan *s, struct live_named_groups *named);
/* Without memory for them there are none. */
void live_named_groups_init(struct live_named_groups *n, const struct live_group *groups, size_t count);
void live_named_groups_release(struct live_named_groups *n);

#endif
