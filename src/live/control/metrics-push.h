/*
 * metrics-push: pushes metrics: to a file for node_exporter's textfile collector, replaced atomically, and to a
 * Pushgateway. Failed deliveries are counted.
 */
#ifndef SONDE_LIVE_CONTROL_METRICS_PUSH_H
#define SONDE_LIVE_CONTROL_METRICS_PUSH_H

#include "live/scrape.h"

struct push_options {
	const char *textfile; /* NULL: none */
	const char *push;     /* URL of a Pushgateway, "http://host:9091"; NULL: none */
	int64_t every_ns;     /* 0: 15 s */
};

struct metrics_push;

/* Pushes at once and then periodically, in a separate thread. Both options NULL: *out is NULL. */
int metrics_push_start(struct metrics_push **out, const struct push_options *options, struct live_exporter *e,
		struct sonde_err *err);
void metrics_push_free(struct metrics_push *o); /* removes the textfile; o may be NULL */

#endif
