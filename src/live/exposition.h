/*
 * exposition: metric families in the formats of Prometheus: text 0.0.4, OpenMetrics 1.0, or protocol buffers, which
 * alone support native histograms.
 *
 *	exposition_family(&x, "sonde_app_steps", EXPOSITION_COUNTER, "Steps announced.");
 *	exposition_sample(&x, 12, "app", app, "step", step, NULL);
 *
 * A counter's name is given without _total, which its samples get. Names must be valid (exposition_name makes them
 * so); label values may be arbitrary. With a sink nothing is written: the samples go to the sink under the names
 * that queries use, and only those of wanted families.
 */
#ifndef SONDE_LIVE_EXPOSITION_H
#define SONDE_LIVE_EXPOSITION_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPOSITION_LABELS_MAX 8

enum exposition_format { EXPOSITION_TEXT, EXPOSITION_OPENMETRICS, EXPOSITION_PROTOBUF };

enum exposition_type {
	EXPOSITION_COUNTER,
	EXPOSITION_GAUGE,
	EXPOSITION_HISTOGRAM,
	EXPOSITION_SUMMARY,
	EXPOSITION_INFO, /* a gauge of 1 named ..._info */
};

struct exposition_label {
	const char *key, *value;
};

/* Buckets as in sonde/shm.h. */
struct exposition_histogram {
	const uint64_t *buckets;
	uint64_t count;
	double sum;
	double greatest; /* NaN if unknown; shown as an exemplar with `example` as its label value */
	const char *example_key, *example;
};

typedef void exposition_sink(void *arg, const char *name, const struct exposition_label *labels, size_t label_count,
		double value);

struct exposition {
	struct buf *out;
	enum exposition_format format;
	exposition_sink *sink;                           /* NULL: write */
	bool (*wants)(void *sink_arg, const char *name); /* filters samples by name; NULL: all */
	void *sink_arg;
	/* private: the current family */
	bool is_skipped;
	char name[160];
	size_t name_bytes;
	enum exposition_type type;
	struct buf family; /* PROTOBUF: the pending family */
};

void exposition_family(struct exposition *x, const char *name, enum exposition_type type, const char *help);
/* Alternating labels and values, NULL-terminated; NULL values are omitted. */
void exposition_sample(struct exposition *x, double value, ...) __attribute__((sentinel));
void exposition_summary(struct exposition *x, double sum, uint64_t count, const struct exposition_label *labels,
		size_t label_count);
void exposition_histogram(struct exposition *x, const struct exposition_histogram *h,
		const struct exposition_label *labels, size_t label_count);
void exposition_end(struct exposition *x);

/* The format for an Accept header, and its content type. */
enum exposition_format exposition_choose(const char *accept);
const char *exposition_content_type(enum exposition_format format);

/* Builds a valid name from prefix and text: letters, digits and '_', camelCase as camel_case. */
void exposition_name(char *out, size_t size, const char *prefix, const char *text);

/* Private: between exposition.c and protobuf.c. */

void protobuf_family(struct exposition *x, const char *help);
void protobuf_value(struct exposition *x, double value, const struct exposition_label *labels, size_t count);
void protobuf_summary(struct exposition *x, double sum, uint64_t count, const struct exposition_label *labels,
		size_t label_count);
void protobuf_histogram(struct exposition *x, const struct exposition_histogram *h,
		const struct exposition_label *labels, size_t label_count);
void protobuf_flush(struct exposition *x); /* writes the pending family */
/* Appends the text; invalid UTF-8 is replaced. */
void exposition_clean(struct buf *out, const char *text, bool is_escaped);
const char *exposition_sample_suffix(enum exposition_type type);

#endif
