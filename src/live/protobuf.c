/*
 * Protocol buffer exposition: MetricFamily messages of Prometheus' client model, each with a length prefix.
 * Histograms are native ones of schema 2, with the board's bounds, plus classic buckets for readers without native
 * histograms.
 */
#include "live/exposition.h"

#include "base/cleanup.h"
#include "sonde/shm.h"

#include <math.h>
#include <string.h>

#define SCHEMA 2
#define BUCKETS_AN_OCTAVE 4
#define FIRST_INDEX (4 * -30 + 1) /* of board bucket 1: its upper bound is 2^(index / 4) */

enum wire { WIRE_VARINT = 0, WIRE_DOUBLE = 1, WIRE_BYTES = 2 };

enum family { FAMILY_NAME = 1, FAMILY_HELP, FAMILY_TYPE, FAMILY_METRIC };
enum metric { METRIC_LABEL = 1, METRIC_GAUGE, METRIC_COUNTER, METRIC_SUMMARY, METRIC_HISTOGRAM = 7 };
enum histogram {
	HISTOGRAM_COUNT = 1,
	HISTOGRAM_SUM,
	HISTOGRAM_BUCKET,
	HISTOGRAM_SCHEMA = 5,
	HISTOGRAM_ZERO_THRESHOLD,
	HISTOGRAM_ZERO_COUNT,
	HISTOGRAM_SPAN = 12,
	HISTOGRAM_DELTA,
};

enum bucket { BUCKET_COUNT = 1, BUCKET_BOUND, BUCKET_EXAMPLE };

static void add_varint(struct buf *out, uint64_t n)
{
	for (; n >= 0x80; n >>= 7)
		buf_addc(out, (char)(n | 0x80));
	buf_addc(out, (char)n);
}

static uint64_t zigzag(int64_t n)
{
	return ((uint64_t)n << 1) ^ (uint64_t)(n >> 63);
}

static void add_key(struct buf *out, unsigned field, enum wire wire)
{
	add_varint(out, field << 3 | wire);
}

static void add_uint(struct buf *out, unsigned field, uint64_t n)
{
	add_key(out, field, WIRE_VARINT);
	add_varint(out, n);
}

static void add_double(struct buf *out, unsigned field, double value)
{
	add_key(out, field, WIRE_DOUBLE);
	buf_add(out, &value, sizeof(value)); /* little-endian, as this machine */
}

static void add_bytes(struct buf *out, unsigned field, const void *bytes, size_t n)
{
	add_key(out, field, WIRE_BYTES);
	add_varint(out, n);
	buf_add(out, bytes, n);
}

static void add_text(struct buf *out, unsigned field, const char *text)
{
	CLEANUP(buf_release) struct buf clean = BUF_INIT;

	exposition_clean(&clean, text, false);
	add_bytes(out, field, clean.data, clean.len);
}

void protobuf_family(struct exposition *x, const char *help)
{
	static const unsigned numbers[] = { [EXPOSITION_COUNTER] = 0,
		[EXPOSITION_GAUGE] = 1,
		[EXPOSITION_SUMMARY] = 2,
		[EXPOSITION_HISTOGRAM] = 4,
		[EXPOSITION_INFO] = 1 };
	CLEANUP(buf_release) struct buf name = BUF_INIT;

	if (!x->family.data)
		buf_init(&x->family, 0);
	buf_addf(&name, "%s%s", x->name, exposition_sample_suffix(x->type));
	add_text(&x->family, FAMILY_NAME, name.data);
	add_text(&x->family, FAMILY_HELP, help);
	add_uint(&x->family, FAMILY_TYPE, numbers[x->type]);
}

void protobuf_flush(struct exposition *x)
{
	if (!x->family.data || !x->family.len)
		return;
	add_varint(x->out, x->family.len);
	buf_add(x->out, x->family.data, x->family.len);
	buf_reset(&x->family);
}

static void add_metric(struct exposition *x, enum metric field, const struct buf *value,
		const struct exposition_label *labels, size_t count)
{
	CLEANUP(buf_release) struct buf metric = BUF_INIT;

	for (size_t i = 0; i < count; i++) {
		CLEANUP(buf_release) struct buf pair = BUF_INIT;

		add_text(&pair, 1, labels[i].key);
		add_text(&pair, 2, labels[i].value);
		add_bytes(&metric, METRIC_LABEL, pair.data, pair.len);
	}
	add_bytes(&metric, field, value->data, value->len);
	add_bytes(&x->family, FAMILY_METRIC, metric.data, metric.len);
}

void protobuf_value(struct exposition *x, double value, const struct exposition_label *labels, size_t count)
{
	CLEANUP(buf_release) struct buf v = BUF_INIT;

	add_double(&v, 1, value);
	add_metric(x, x->type == EXPOSITION_COUNTER ? METRIC_COUNTER : METRIC_GAUGE, &v, labels, count);
}

void protobuf_summary(struct exposition *x, double sum, uint64_t count, const struct exposition_label *labels,
		size_t label_count)
{
	CLEANUP(buf_release) struct buf v = BUF_INIT;

	add_uint(&v, 1, count);
	add_double(&v, 2, sum);
	add_metric(x, METRIC_SUMMARY, &v, labels, label_count);
}

static void add_span(struct buf *out, int64_t offset, uint64_t length)
{
	CLEANUP(buf_release) struct buf span = BUF_INIT;

	add_uint(&span, 1, zigzag(offset));
	add_uint(&span, 2, length);
	add_bytes(out, HISTOGRAM_SPAN, span.data, span.len);
}

/* Spans of non-empty buckets, each with its offset from the previous one; counts as deltas. */
static void add_sparse(struct buf *out, const uint64_t *buckets)
{
	CLEANUP(buf_release) struct buf deltas = BUF_INIT;
	int64_t next = 0, before = 0;

	for (int64_t i = 1; i < SONDE_HISTOGRAM_BUCKETS;) {
		int64_t from = i, index = FIRST_INDEX + i - 1;

		for (; i < SONDE_HISTOGRAM_BUCKETS && buckets[i]; i++) {
			add_varint(&deltas, zigzag((int64_t)buckets[i] - before));
			before = (int64_t)buckets[i];
		}
		if (i > from) {
			add_span(out, index - next, (uint64_t)(i - from));
			next = index + (i - from);
		} else {
			i++;
		}
	}
	if (deltas.len)
		add_bytes(out, HISTOGRAM_DELTA, deltas.data, deltas.len);
	else
		add_span(out, 0, 0); /* distinguishes an empty native histogram from a classic one */
}

static void add_bucket(struct buf *out, const struct exposition_histogram *h, uint64_t below, double from, double to)
{
	CLEANUP(buf_release) struct buf one = BUF_INIT;

	add_uint(&one, BUCKET_COUNT, below);
	add_double(&one, BUCKET_BOUND, to);
	if (h->example && h->greatest > from && h->greatest <= to) {
		CLEANUP(buf_release) struct buf example = BUF_INIT, pair = BUF_INIT;

		/* The maximum value is an exemplar of its bucket, with its process. */
		add_text(&pair, 1, h->example_key);
		add_text(&pair, 2, h->example);
		add_bytes(&example, 1, pair.data, pair.len);
		add_double(&example, 2, h->greatest);
		add_bytes(&one, BUCKET_EXAMPLE, example.data, example.len);
	}
	add_bytes(out, HISTOGRAM_BUCKET, one.data, one.len);
}

void protobuf_histogram(struct exposition *x, const struct exposition_histogram *h,
		const struct exposition_label *labels, size_t label_count)
{
	CLEANUP(buf_release) struct buf v = BUF_INIT;
	uint64_t below = 0;
	size_t bucket = 0;
	double from = -INFINITY;

	add_uint(&v, HISTOGRAM_COUNT, h->count);
	add_double(&v, HISTOGRAM_SUM, h->sum);
	for (int octave = -14; octave <= 14; octave++) {
		for (; bucket < 1 + BUCKETS_AN_OCTAVE * (size_t)(octave + 30); bucket++)
			below += h->buckets[bucket];
		add_bucket(&v, h, below, from, exp2(octave));
		from = exp2(octave);
	}
	if (h->greatest > from)
		add_bucket(&v, h, h->count, from, INFINITY);
	add_uint(&v, HISTOGRAM_SCHEMA, zigzag(SCHEMA));
	add_double(&v, HISTOGRAM_ZERO_THRESHOLD, exp2(-30));
	add_uint(&v, HISTOGRAM_ZERO_COUNT, h->buckets[0]);
	add_sparse(&v, h->buckets);
	add_metric(x, METRIC_HISTOGRAM, &v, labels, label_count);
}
