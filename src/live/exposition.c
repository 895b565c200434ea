/* Metric families of samples, independent of the format. */
#include "live/exposition.h"

#include <ctype.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Bounds of exported histograms: 2^LOW to 2^HIGH, among the board's buckets, which begin at 2^FIRST. */
#define OCTAVE_LOW (-14)
#define OCTAVE_HIGH 14
#define OCTAVE_FIRST (-30)
#define OCTAVES (OCTAVE_HIGH - OCTAVE_LOW + 1)

/* Length of the UTF-8 character that starts here; 0 if invalid. */
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

static char *put(char *at, const void *bytes, size_t n)
{
	memcpy(at, bytes, n);
	return at + n;
}

static char *puts_at(char *at, const char *text)
{
	return put(at, text, strlen(text));
}

#define CLEAN_BYTES_MAX(text) (2 * strlen(text))

/* Bytes that are not UTF-8 become '?', because a single one makes readers reject the whole page. */
static char *put_clean(char *at, const char *text, bool is_escaped)
{
	for (const unsigned char *p = (const unsigned char *)text; *p;) {
		size_t n;

		if (*p >= ' ' && *p < 0x7f && *p != '"' && *p != '\\') {
			*at++ = (char)*p++;
			continue;
		}
		n = character_bytes(p);
		if (!n) {
			*at++ = '?';
		} else if (is_escaped && (*p == '\n' || *p == '"' || *p == '\\')) {
			*at++ = '\\';
			*at++ = *p == '\n' ? 'n' : (char)*p;
		} else {
			at = put(at, p, n);
		}
		p += n ? n : 1;
	}
	return at;
}

void exposition_clean(struct buf *out, const char *text, bool is_escaped)
{
	if (buf_reserve(out, CLEAN_BYTES_MAX(text) + 1))
		buf_set_end(out, put_clean(out->data + out->len, text, is_escaped));
}

#define NUMBER_BYTES_MAX 32
#define WHOLE_MAX 9e15 /* up to here a double represents every integer */

static char *put_whole(char *at, uint64_t n)
{
	char text[24], *from = text + sizeof(text);

	do
		*--from = (char)('0' + n % 10);
	while (n /= 10);
	return put(at, from, (size_t)(text + sizeof(text) - from));
}

/*
 * Most values are integers or have few decimals and do not need printf. The text always parses back to the same
 * value.
 */
static char *put_number(char *at, double value)
{
	if (value >= 0 && value < WHOLE_MAX && value == (double)(uint64_t)value && !signbit(value))
		return put_whole(at, (uint64_t)value);
	if (value > 0 && value < WHOLE_MAX / 1e9) {
		uint64_t n = (uint64_t)(value * 1e9 + 0.5);

		if (value == (double)n / 1e9) {
			uint64_t rest = n % 1000000000;
			char *last;

			/* n / 10^9, rounded as a reader of this text rounds it. */
			at = put_whole(at, n / 1000000000);
			*at = '.';
			for (last = at + 9; last > at; last--, rest /= 10)
				last[0] = (char)('0' + rest % 10);
			for (last = at + 9; *last == '0';)
				last--;
			return last + 1;
		}
	}
	if (isnan(value))
		return puts_at(at, "NaN");
	if (isinf(value))
		return puts_at(at, value > 0 ? "+Inf" : "-Inf");
	return at + snprintf(at, NUMBER_BYTES_MAX, "%.17g", value);
}

static size_t labels_bytes_max(const struct exposition_label *labels, size_t count)
{
	size_t n = 1;

	for (size_t i = 0; i < count; i++)
		n += strlen(labels[i].key) + CLEAN_BYTES_MAX(labels[i].value) + 4;
	return n;
}

static char *put_labels(char *at, const struct exposition_label *labels, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		*at++ = i ? ',' : '{';
		at = puts_at(at, labels[i].key);
		at = put(at, "=\"", 2);
		at = put_clean(at, labels[i].value, true);
		*at++ = '"';
	}
	if (count)
		*at++ = '}';
	return at;
}

static void exposition_line(struct exposition *x, const char *suffix, double value,
		const struct exposition_label *labels, size_t count)
{
	const char *own = exposition_sample_suffix(x->type);
	char *at;

	if (!buf_reserve(x->out,
			    x->name_bytes + strlen(own) + strlen(suffix) + labels_bytes_max(labels, count) +
					    NUMBER_BYTES_MAX + 2))
		return;
	at = put(x->out->data + x->out->len, x->name, x->name_bytes);
	at = puts_at(at, own);
	at = puts_at(at, suffix);
	at = put_labels(at, labels, count);
	*at++ = ' ';
	at = put_number(at, value);
	*at++ = '\n';
	buf_set_end(x->out, at);
}

/* `name_bucket{app="x",`: the common prefix of a histogram's lines. */
static char *put_bucket_head(char *at, const struct exposition *x, const struct exposition_label *labels, size_t count)
{
	at = put(at, x->name, x->name_bytes);
	at = put(at, "_bucket", 7);
	at = put_labels(at, labels, count);
	if (count)
		at[-1] = ',';
	else
		*at++ = '{';
	return at;
}

struct bound {
	double value;
	char label[32];
	size_t label_bytes;
};

static struct bound bounds[OCTAVES + 1];
static pthread_once_t bounds_once = PTHREAD_ONCE_INIT;

static void build_bounds(void)
{
	for (int i = 0; i < OCTAVES; i++) {
		struct bound *b = &bounds[i];

		b->value = exp2(OCTAVE_LOW + i);
		b->label_bytes = (size_t)snprintf(b->label, sizeof(b->label),
				b->value < 1 ? "le=\"%.17g\"} " : "le=\"%.1f\"} ", b->value);
	}
	bounds[OCTAVES] = (struct bound){ INFINITY, "le=\"+Inf\"} ", strlen("le=\"+Inf\"} ") };
}

static void exposition_buckets(struct exposition *x, const struct exposition_histogram *h,
		const struct exposition_label *labels, size_t label_count)
{
	bool has_example = x->format == EXPOSITION_OPENMETRICS && !isnan(h->greatest) && h->example;
	size_t line_max = x->name_bytes + 8 + labels_bytes_max(labels, label_count) + sizeof(bounds->label) +
			NUMBER_BYTES_MAX + 1;
	size_t example_max = has_example ? strlen(h->example_key) + CLEAN_BYTES_MAX(h->example) + NUMBER_BYTES_MAX + 9
					 : 0;
	char number[NUMBER_BYTES_MAX], *head, *at;
	size_t bucket = 0, head_bytes = 0, number_bytes = 0;
	uint64_t below = 0, written = UINT64_MAX;

	pthread_once(&bounds_once, build_bounds);
	if (!buf_reserve(x->out, (OCTAVES + 1) * line_max + example_max))
		return;
	head = at = x->out->data + x->out->len;
	for (int i = 0; i <= OCTAVES; i++) {
		size_t end = 1 + 4 * (size_t)(OCTAVE_LOW + i - OCTAVE_FIRST);

		for (; i < OCTAVES && bucket < end; bucket++)
			below += h->buckets[bucket];
		below = i < OCTAVES ? below : h->count;
		if (below != written)
			number_bytes = (size_t)(put_whole(number, written = below) - number);
		at = i ? put(at, head, head_bytes) : put_bucket_head(at, x, labels, label_count);
		head_bytes = i ? head_bytes : (size_t)(at - head);
		at = put(at, bounds[i].label, bounds[i].label_bytes);
		at = put(at, number, number_bytes);
		if (has_example && h->greatest <= bounds[i].value && (!i || h->greatest > bounds[i - 1].value)) {
			/* An exemplar follows its bucket; text 0.0.4 has none. */
			at = put(at, " # {", 4);
			at = puts_at(at, h->example_key);
			at = put(at, "=\"", 2);
			at = put_clean(at, h->example, true);
			at = put(at, "\"} ", 3);
			at = put_number(at, h->greatest);
		}
		*at++ = '\n';
	}
	buf_set_end(x->out, at);
}

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

static void add_sample(struct exposition *x, const char *suffix, double value, const struct exposition_label *labels,
		size_t count)
{
	if (x->sink) {
		const char *own = types[x->type].sample_suffix;
		char name[sizeof(x->name) + 32];
		size_t n = x->name_bytes < sizeof(x->name) ? x->name_bytes : sizeof(x->name) - 1;

		memcpy(name, x->name, n);
		memcpy(name + n, own, strlen(own));
		n += strlen(own);
		memcpy(name + n, suffix, strlen(suffix));
		name[n + strlen(suffix)] = '\0';
		x->sink(x->sink_arg, name, labels, count, value);
		return;
	}
	exposition_line(x, suffix, value, labels, count);
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
	if (!x->is_skipped) {
		if (x->format == EXPOSITION_PROTOBUF && !x->sink)
			protobuf_value(x, value, labels, count);
		else
			add_sample(x, "", value, labels, count);
	}
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
