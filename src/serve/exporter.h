/* exporter: GET /metrics over live/metrics.h. */
#ifndef SONDE_SERVE_EXPORTER_H
#define SONDE_SERVE_EXPORTER_H

#include "live/metrics.h"
#include "serve/guard.h"

/* The exporter must live longer than the guard. Without options->basic anybody who reaches the address may ask. */
int exporter_start(struct guard **out, struct live_exporter *e, const struct guard_options *options,
		struct sonde_err *err);

#endif
