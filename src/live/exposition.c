/* Metric families of samples, independent of the format. */
#include "live/exposition-private.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *word, *openmetrics_word, *sample_suffix;
} types[] = {
	[EXPOSITION_COUNTER] = { "counter", "counter", "_total" },
	[EXPOSITION_GAUGE] = { "gauge", "gauge", "" },
	[EXPOSITION_HISTOGRAM] = { "histogram", "histogram", "" },
	[EXPOSITION_SUMMARY] = { "summary", "summary", "" },
	[EXPOSITION_INFO] = { "gauge", "info", "_info" },
};

const char *exposition_sample_suffix(enum exposition_type type)
{
	return types[type].sample_suffix;
}

/* Does the sink want samples of this family, under any of their names? */
static bool is_wanted(const struct exposition *x)
{
	static const char *const of_distributions[] = { "_sum", "_count", NULL };
	const char *const of_others[] = { types[x->type].sample_suffix, NULL };
	bool is_distribution = x->type == EXPOSITION_HISTOGRAM || x->type == EXPOSITION_SUMMARY;
	char name[sizeof(x->name) + 16];

	for (const char *const *suffix = is_distribution ? of_distributions : of_others; *suffix; suffix++) {
		snprintf(name, sizeof(name), "%s%s", x->name, *suffix);
		if (x->wants(x->sink_arg, name))
			return true;
	}
	return false;
}

/* The older format names a family like its samples. */
void exposition_family(struct exposition *x, const char *name, enum exposition_type type, const char *help)
{
	bool is_openmetrics = x->format == EXPOSITION_OPENMETRICS;
	const char *suffix = is_openmetrics ? "" : types[type].sample_suffix;

	if (x->format == EXPOSITION_PROTOBUF && !x->sink)
		protobuf_flush(x);
	x->name_bytes = (size_t)snprintf(x->name, sizeof(x->name), "%s", name);
	x->type = type;
	x->is_skipped = x->sink && x->wants && !is_wanted(x);
	if (x->sink)
		return;
	if (x->format == EXPOSITION_PROTOBUF)
		protobuf_family(x, help);
	else
		buf_addf(x->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, suffix, help, name, suffix,
				is_openmetrics ? types[type].openmetrics_word : types[type].word);
}

static void to_sink(struct exposition *x, const char *suffix, double value, const struct exposition_label *labels,
		size_t count)
{
	const char *own = types[x->type].sample_suffix;
	char name[sizeof(x->name) + 32];
	size_t n = x->name_bytes < sizeof(x->name) ? x->name_bytes : sizeof(x->name) - 1;

	memcpy(name, x->name, n);
	memcpy(name + n, own, strlen(own));
	n += strlen(own);
	memcpy(name + n, suffix, strlen(suffix));
	name[n + strlen(suffix)] = '\0';
	x->sink(x->sink_arg, name, labels, count, value);
}

static void add_sample(struct exposition *x, const char *suffix, double value, const struct exposition_label *labels,
		size_t count)
{
	if (x->sink) {
		to_sink(x, suffix, value, labels, count);
		return;
	}
	exposition_line(x, suffix, value, labels, count);
}

static void put_labelled(struct exposition *x, double value, const struct exposition_label *labels, size_t count)
{
	if (x->is_skipped)
		return;
	if (x->format == EXPOSITION_PROTOBUF && !x->sink)
		protobuf_value(x, value, labels, count);
	else
		add_sample(x, "", value, labels, count);
}

void exposition_sample(struct exposition *x, double value, ...)
{
	struct exposition_label labels[EXPOSITION_LABELS_MAX];
	size_t count = 0;
	const char *key;
	va_list ap;

	if (x->is_skipped)
		return;
	va_start(ap, value);
	while (count < EXPOSITION_LABELS_MAX && (key = va_arg(ap, const char *))) {
		labels[count] = (struct exposition_label){ key, va_arg(ap, const char *) };
		count += labels[count].value != NULL;
	}
	va_end(ap);
	put_labelled(x, value, labels, count);
}

void exposition_summary(struct exposition *x, double sum, uint64_t count, const struct exposition_label *labels,
		size_t label_count)
{
	if (x->is_skipped)
		return;
	if (x->format == EXPOSITION_PROTOBUF && !x->sink) {
		protobuf_summary(x, sum, count, labels, label_count);
		return;
	}
	add_sample(x, "_sum", sum, labels, label_count);
	add_sample(x, "_count", (double)count, labels, label_count);
}

void exposition_histogram(struct exposition *x, const struct exposition_histogram *h,
		const struct exposition_label *labels, size_t label_count)
{
	if (x->is_skipped)
		return;
	if (x->format == EXPOSITION_PROTOBUF && !x->sink) {
		protobuf_histogram(x, h, labels, label_count);
		return;
	}
	if (!x->sink)
		exposition_buckets(x, h, labels, label_count);
	add_sample(x, "_sum", h->sum, labels, label_count);
	add_sample(x, "_count", (double)h->count, labels, label_count);
}

void exposition_end(struct exposition *x)
{
	if (x->sink)
		return;
	if (x->format == EXPOSITION_OPENMETRICS)
		buf_adds(x->out, "# EOF\n");
	if (x->format == EXPOSITION_PROTOBUF)
		protobuf_flush(x);
	buf_release(&x->family);
}

enum exposition_format exposition_choose(const char *accept)
{
	if (accept && strstr(accept, "application/vnd.google.protobuf") &&
			strstr(accept, "io.prometheus.client.MetricFamily") && strstr(accept, "encoding=delimited"))
		return EXPOSITION_PROTOBUF;
	return accept && strstr(accept, "application/openmetrics-text") ? EXPOSITION_OPENMETRICS : EXPOSITION_TEXT;
}

const char *exposition_content_type(enum exposition_format format)
{
	static const char *const names[] = { [EXPOSITION_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
		[EXPOSITION_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
		[EXPOSITION_PROTOBUF] = ("application/vnd.google.protobuf; "
					 "proto=io.prometheus.client.MetricFamily; encoding=delimited") };

	return names[format];
}

void exposition_name(char *out, size_t size, const char *prefix, const char *text)
{
	size_t n = (size_t)snprintf(out, size, "%s", prefix);

	for (const char *p = text; *p && n + 3 < size; p++) {
		bool is_upper = isupper((unsigned char)*p);

		if (is_upper && p > text && islower((unsigned char)p[-1]))
			out[n++] = '_';
		out[n++] = isalnum((unsigned char)*p) ? (char)tolower((unsigned char)*p) : '_';
	}
	out[n] = '\0';
}
