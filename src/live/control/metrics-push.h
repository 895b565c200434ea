/*
 * outlet: metrics for those who do not come for them: a file for node_exporter's textfile
 * collector, replaced as a whole, and a Pushgateway. What could not be delivered is counted.
 */
#ifndef SONDE_LIVE_CONTROL_METRICS_PUSH_H
#define SONDE_LIVE_CONTROL_METRICS_PUSH_H

#include "live/scrape.h"

struct outlet_options {
	const char *textfile; /* NULL: none */
	const char *push;     /* address of a Pushgateway, "http://host:9091"; NULL: none */
	int64_t every_ns;     /* 0: 15 s */
};

struct outlet;

/* Delivers at once and then regularly, in a thread of its own. Both options NULL: *out is NULL. */
int outlet_start(struct outlet **out, const struct outlet_options *options, struct live_exporter *e,
		struct sonde_err *err);
void outlet_free(struct outlet *o); /* takes the textfile away; NULL is fine */

#endif
