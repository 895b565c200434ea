/* metrics: everything that the exporter says at a scrape. */
#ifndef SONDE_LIVE_METRICS_H
#define SONDE_LIVE_METRICS_H

#include "base/buf.h"
#include "base/err.h"
#include "live/apps.h"

#include <stdbool.h>
#include <stdint.h>

struct live_exporter {
	struct live_options options;
	const char *version;
	uint64_t scrapes, dropped; /* counted over its life; atomic */
};

/* The applications, the machine and ourselves, now. */
int live_metrics(struct live_exporter *e, bool is_openmetrics, struct buf *out, struct sonde_err *err);
/* The machine's processors, memory and pressure. */
struct exposition;
void live_node(struct exposition *x);

#endif
