/*
 * controller: evaluates rules over live metrics in a separate thread.
 *
 * At each interval the metrics are sampled, the rules are evaluated and the watchdog gets a heartbeat. While the off
 * file exists, or after controller_switch, all changes are reverted and no actions run. A watchdog that died is
 * replaced; until then no changes are made.
 */
#ifndef SONDE_LIVE_CONTROL_CONTROLLER_H
#define SONDE_LIVE_CONTROL_CONTROLLER_H

#include "base/json.h"
#include "live/rules/rules-file.h"
#include "live/scrape.h"

struct controller;

/* Starts the watchdog (before there are threads) and initializes; the file must outlive the controller. */
int controller_open(struct controller **out, const struct rules_file *f, struct live_exporter *e,
		struct sonde_err *err);
int controller_start(struct controller *c, struct sonde_err *err);
void controller_free(struct controller *c); /* reverts all changes; c may be NULL */

void controller_switch(struct controller *c, bool is_on);
/* For exporter.more. */
void controller_metrics(void *arg, struct exposition *x);
/* Rules with their states and reasons; the newest lines of the action log. */
void controller_show_rules(struct controller *c, struct json *out);
void controller_show_journal(struct controller *c, struct json *out);

/*
 * Pushes metrics: to a file for node_exporter's textfile collector, replaced atomically, and to a
 * Pushgateway. Failed deliveries are counted.
 */

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
