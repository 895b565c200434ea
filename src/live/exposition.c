/* The two text formats; see exposition.h. */
#include "live/exposition-private.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bounds of exported histograms: 2^LOW to 2^HIGH, among the board's buckets, which begin at 2^FIRST. */
#define OCTAVE_LOW (-14)
#define OCTAVE_HIGH 14
#define OCTAVE_FIRST (-30)
#define OCTAVES (OCTAVE_HIGH - OCTAVE_LOW + 1)

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

/* Does the sink want a sample of this family, under any of the names that they have? */
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

/* The older format names families as their samples. */
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

/* The bytes of the UTF-8 character that begins here; 0: none does. */
static size_t character_bytes(const unsigned char *p)
{
	size_t n = *p < 0x80                      ? 1
			: *p >= 0xc2 && *p < 0xe0 ? 2
			: *p >= 0xe0 && *p < 0xf0 ? 3
			: *p >= 0xf0 && *p < 0xf5 ? 4
						  : 0;

	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

static bool is_plain(unsigned char c)
{
	return c >= ' ' && c < 0x7f && c != '"' && c != '\\';
}

/* Bytes that are not UTF-8 become '?', since readers refuse the whole page for one of them. */
void exposition_clean(struct buf *out, const char *text, bool is_escaped)
{
	for (const unsigned char *p = (const unsigned char *)text; *p;) {
		size_t n = 0;

		while (is_plain(p[n]))
			n++;
		if (n) {
			buf_add(out, p, n);
			p += n;
			continue;
		}
		n = character_bytes(p);
		if (!n)
			buf_addc(out, '?');
		else if (is_escaped && *p == '\n')
			buf_adds(out, "\\n");
		else if (is_escaped && (*p == '"' || *p == '\\'))
			buf_addf(out, "\\%c", *p);
		else
			buf_add(out, p, n);
		p += n ? n : 1;
	}
}

/* Most values are whole: those need no printf. */
static void add_number(struct buf *out, double value)
{
	char text[24], *at = text + sizeof(text);
	uint64_t whole;

	if (value >= 0 && value < 9e15 && value == (double)(whole = (uint64_t)value) && !signbit(value)) {
		do
			*--at = (char)('0' + whole % 10);
		while (whole /= 10);
		buf_add(out, at, (size_t)(text + sizeof(text) - at));
	} else if (isnan(value)) {
		buf_adds(out, "NaN");
	} else if (isinf(value)) {
		buf_adds(out, value > 0 ? "+Inf" : "-Inf");
	} else {
		buf_addf(out, "%.17g", value);
	}
}

static void add_labels(struct buf *out, const struct exposition_label *labels, size_t count)
{
	char before = '{';

	for (size_t i = 0; i < count; i++) {
		buf_addc(out, before);
		buf_adds(out, labels[i].key);
		buf_add(out, "=\"", 2);
		exposition_clean(out, labels[i].value, true);
		buf_addc(out, '"');
		before = ',';
	}
	if (before == ',')
		buf_addc(out, '}');
}

static void add_line(struct exposition *x, const char *suffix, double value, const struct exposition_label *labels,
		size_t count)
{
	buf_add(x->out, x->name, x->name_bytes);
	buf_adds(x->out, types[x->type].sample_suffix);
	buf_adds(x->out, suffix);
	add_labels(x->out, labels, count);
	buf_addc(x->out, ' ');
	add_number(x->out, value);
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
	add_line(x, suffix, value, labels, count);
	buf_addc(x->out, '\n');
}

void exposition_labelled(struct exposition *x, double value, const struct exposition_label *labels, size_t count)
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
	exposition_labelled(x, value, labels, count);
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

/* An example stands behind the bucket that it is in; text 0.0.4 has none. */
static void add_example(struct exposition *x, const struct exposition_histogram *h, bool is_in_it)
{
	if (x->format != EXPOSITION_OPENMETRICS || !is_in_it || isnan(h->greatest) || !h->example)
		return;
	buf_addf(x->out, " # {%s=\"", h->example_key);
	exposition_clean(x->out, h->example, true);
	buf_add(x->out, "\"} ", 3);
	add_number(x->out, h->greatest);
}

static const char *bound_label(int octave)
{
	static char labels[OCTAVES][32];
	char *label = labels[octave - OCTAVE_LOW];

	if (!*label)
		snprintf(label, sizeof(labels[0]), octave < 0 ? "le=\"%.17g\"} " : "le=\"%.1f\"} ", exp2(octave));
	return label;
}

/* `name_bucket{app="x",`: what all lines of a histogram begin with. */
static void add_bucket_head(struct exposition *x, const struct exposition_label *labels, size_t count, struct buf *head)
{
	buf_add(head, x->name, x->name_bytes);
	buf_adds(head, "_bucket");
	add_labels(head, labels, count);
	if (count)
		head->data[head->len - 1] = ',';
	else
		buf_addc(head, '{');
}

static void add_buckets(struct exposition *x, const struct exposition_histogram *h,
		const struct exposition_label *labels, size_t label_count)
{
	CLEANUP(buf_release) struct buf head = BUF_INIT;
	uint64_t below = 0;
	size_t bucket = 0;
	double bound = -INFINITY;

	add_bucket_head(x, labels, label_count, &head);
	for (int octave = OCTAVE_LOW; octave <= OCTAVE_HIGH; octave++) {
		size_t end = 1 + 4 * (size_t)(octave - OCTAVE_FIRST);

		for (; bucket < end; bucket++)
			below += h->buckets[bucket];
		buf_add(x->out, head.data, head.len);
		buf_adds(x->out, bound_label(octave));
		add_number(x->out, (double)below);
		add_example(x, h, h->greatest > bound && h->greatest <= exp2(octave));
		bound = exp2(octave);
		buf_addc(x->out, '\n');
	}
	buf_add(x->out, head.data, head.len);
	buf_adds(x->out, "le=\"+Inf\"} ");
	add_number(x->out, (double)h->count);
	add_example(x, h, h->greatest > bound);
	buf_addc(x->out, '\n');
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
		add_buckets(x, h, labels, label_count);
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
		[EXPOSITION_PROTOBUF] = "application/vnd.google.protobuf; "
					"proto=io.prometheus.client.MetricFamily; encoding=delimited" };

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
