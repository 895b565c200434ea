/*
 * exposition: families of samples as Prometheus reads them, text 0.0.4 or OpenMetrics 1.0.
 *
 *	exposition_family(&x, "sonde_app_steps", EXPOSITION_COUNTER, "Steps announced.");
 *	exposition_sample(&x, "", 12, "app", app, "step", step, NULL);
 *
 * A counter's name is given without _total, which its samples get. Names must be fine
 * (exposition_name makes them so); values of labels may be anything.
 */
#ifndef SONDE_LIVE_EXPOSITION_H
#define SONDE_LIVE_EXPOSITION_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum exposition_type {
	EXPOSITION_COUNTER,
	EXPOSITION_GAUGE,
	EXPOSITION_HISTOGRAM,
	EXPOSITION_SUMMARY,
	EXPOSITION_INFO, /* a gauge of 1 named ..._info */
};

struct exposition {
	struct buf *out;
	bool is_openmetrics;
	/* private: the family */
	char name[160];
	enum exposition_type type;
};

void exposition_family(struct exposition *x, const char *name, enum exposition_type type, const char *help);
/* suffix: "_sum", "_count", "_bucket" or ""; then labels and values in turn, and a NULL. */
void exposition_sample(struct exposition *x, const char *suffix, double value, ...) __attribute__((sentinel));
void exposition_end(struct exposition *x);

/* prefix and text as a name: letters, digits and '_', camelCase as camel_case. */
void exposition_name(char *out, size_t size, const char *prefix, const char *text);

#endif
