/*
 * Streams of numbers and bytes come back as they went in, by every encoding.
 */
#include "support.h"

#include "store/codec.h"
#include "store/writer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX 3000

struct codec {
	struct store_encoder encoder;
	struct store_decoder decoder;
	struct buf out;
	struct store_stream stream;
	struct store_range range;
};

static void codec_init(struct codec *c)
{
	*c = (struct codec){ .out = BUF_INIT };
}

static void codec_release(struct codec *c)
{
	store_encoder_release(&c->encoder);
	store_decoder_release(&c->decoder);
	buf_release(&c->out);
}

/* The payload at the end of its own allocation, so that a reader that goes beyond is seen. */
static uint8_t *payload(const struct codec *c)
{
	uint8_t *copy = malloc(c->out.len ? c->out.len : 1);

	assert_non_null(copy);
	memcpy(copy, c->out.data, c->out.len);
	return copy;
}

static void decode_as(struct codec *c, const int64_t *wanted, size_t rows)
{
	int64_t *got = malloc(rows * sizeof(*got));
	uint8_t *bytes = payload(c);

	c->stream.bytes = (uint32_t)c->out.len;
	assert_int_equal(store_decode_numbers(&c->decoder, &c->stream, bytes, rows, got), 0);
	assert_memory_equal(got, wanted, rows * sizeof(*got));
	free(got);
	free(bytes);
}

static enum store_encoding round_trip(struct codec *c, const int64_t *values, size_t rows, bool is_time)
{
	int64_t *copy = malloc(rows * sizeof(*copy));

	memcpy(copy, values, rows * sizeof(*copy));
	buf_reset(&c->out);
	assert_int_equal(store_encode_ints(&c->encoder, copy, rows, is_time, &c->stream, &c->range, &c->out), 0);
	free(copy);
	decode_as(c, values, rows);
	return c->stream.encoding;
}

static void check_range(const struct codec *c, const int64_t *values, size_t rows)
{
	int64_t min = INT64_MAX, max = INT64_MIN;

	for (size_t i = 0; i < rows; i++) {
		if (values[i] == STORE_NULL)
			continue;
		min = values[i] < min ? values[i] : min;
		max = values[i] > max ? values[i] : max;
	}
	if (max == INT64_MIN)
		min = max = STORE_NULL;
	assert_true(c->range.min == min && c->range.max == max);
}

static void each_encoding_is_chosen_where_it_fits(void **state)
{
	int64_t v[1000];
	struct codec c;

	(void)state;
	codec_init(&c);
	for (size_t i = 0; i < 1000; i++)
		v[i] = -5;
	assert_int_equal(round_trip(&c, v, 1000, false), STORE_CONSTANT);
	assert_int_equal(c.out.len, 0);
	for (size_t i = 0; i < 1000; i++)
		v[i] = (int64_t)(i * 7919 % 251) + 1000000;
	assert_int_equal(round_trip(&c, v, 1000, false), STORE_OFFSET);
	assert_int_equal(c.stream.width, 1);
	for (size_t i = 0; i < 1000; i++)
		v[i] = 1000000 + (int64_t)i * 16 + (int64_t)(i % 3);
	assert_int_equal(round_trip(&c, v, 1000, false), STORE_DELTA);
	assert_int_equal(c.stream.width, 1);
	for (size_t i = 0; i < 1000; i++)
		v[i] = 1000000 + (int64_t)i * 1000 + (int64_t)(i * 31 % 17);
	assert_int_equal(round_trip(&c, v, 1000, false), STORE_DELTA);
	assert_int_equal(c.stream.width, 1);
	v[500] = 17;
	assert_int_equal(round_trip(&c, v, 1000, true), STORE_ZIGZAG);
	codec_release(&c);
}

static void a_constant_step_takes_no_planes(void **state)
{
	int64_t v[1000];
	struct codec c;

	(void)state;
	codec_init(&c);
	for (size_t i = 0; i < 1000; i++)
		v[i] = (int64_t)i * 100000;
	assert_int_equal(round_trip(&c, v, 1000, false), STORE_DELTA);
	assert_int_equal(c.out.len, 0);
	codec_release(&c);
}

static void extremes_wrap_around_and_back(void **state)
{
	static const int64_t v[] = { INT64_MAX, INT64_MIN + 1, INT64_MAX, 0, INT64_MIN + 1, -1, INT64_MAX, 1,
		STORE_NULL, INT64_MAX, STORE_NULL, INT64_MIN + 1 };
	const size_t n = sizeof(v) / sizeof(v[0]);
	struct codec c;

	(void)state;
	codec_init(&c);
	for (size_t from = 0; from < n; from++) {
		for (size_t rows = 1; rows <= n - from; rows++) {
			round_trip(&c, v + from, rows, false);
			check_range(&c, v + from, rows);
			round_trip(&c, v + from, rows, true);
			check_range(&c, v + from, rows);
		}
	}
	codec_release(&c);
}

/* A random pattern of values of random width, with or without nulls. */
static void make_values(int64_t *v, size_t rows)
{
	unsigned shift = (unsigned)random_below(64), kind = (unsigned)random_below(4);
	size_t null_share = random_below(3) ? 1 + random_below(20) : 0;
	int64_t at = (int64_t)random_u64();

	for (size_t i = 0; i < rows; i++) {
		uint64_t r = random_u64();
		int64_t step = kind & 1 ? (int64_t)(r >> shift) : (int64_t)r >> shift;

		at = kind & 2 ? (int64_t)((uint64_t)at + (uint64_t)step) : step;
		v[i] = null_share && random_below(null_share) == 0 ? STORE_NULL : at;
	}
}

static void random_numbers_come_back(void **state)
{
	static int64_t v[ROWS_MAX];
	unsigned seen[STORE_BYTES + 1] = { 0 }, with_nulls = 0;
	struct codec c;

	(void)state;
	random_init();
	codec_init(&c);
	for (int round = 0; round < 3000; round++) {
		size_t rows = 1 + random_below(round % 10 ? 100 : ROWS_MAX);

		make_values(v, rows);
		seen[round_trip(&c, v, rows, random_below(2))]++;
		with_nulls += c.stream.has_nulls;
		check_range(&c, v, rows);
	}
	for (int e = STORE_CONSTANT; e <= STORE_ZIGZAG; e++)
		assert_true(seen[e] > 0);
	assert_true(with_nulls > 0);
	codec_release(&c);
}

static void null_patterns_come_back(void **state)
{
	int64_t v[70];
	struct codec c;

	(void)state;
	codec_init(&c);
	for (size_t rows = 1; rows <= 70; rows++) {
		for (size_t lone = 0; lone < rows; lone++) {
			for (size_t i = 0; i < rows; i++)
				v[i] = i == lone ? STORE_NULL : (int64_t)(i * i);
			round_trip(&c, v, rows, false);
			for (size_t i = 0; i < rows; i++)
				v[i] = i == lone ? 99 : STORE_NULL;
			round_trip(&c, v, rows, true);
		}
		for (size_t i = 0; i < rows; i++)
			v[i] = STORE_NULL;
		assert_int_equal(round_trip(&c, v, rows, false), STORE_CONSTANT);
		check_range(&c, v, rows);
	}
	codec_release(&c);
}

static void reals_come_back_bit_by_bit(void **state)
{
	static uint64_t v[ROWS_MAX];
	struct codec c;

	(void)state;
	random_init();
	codec_init(&c);
	for (int round = 0; round < 300; round++) {
		size_t rows = 1 + random_below(ROWS_MAX);
		unsigned shift = (unsigned)random_below(64);

		for (size_t i = 0; i < rows; i++)
			v[i] = round % 7 ? random_u64() >> shift << random_below(2) : 42;
		buf_reset(&c.out);
		assert_int_equal(store_encode_reals(&c.encoder, v, rows, &c.stream, &c.out), 0);
		assert_true(c.stream.encoding == STORE_XOR || c.stream.encoding == STORE_CONSTANT);
		decode_as(&c, (const int64_t *)v, rows);
	}
	codec_release(&c);
}

static void bytes_trip(struct codec *c, const uint8_t *bytes, size_t n)
{
	uint8_t *got = malloc(n + 1), *in;

	buf_reset(&c->out);
	assert_int_equal(store_encode_bytes(&c->encoder, bytes, n, &c->stream, &c->out), 0);
	c->stream.bytes = (uint32_t)c->out.len;
	in = payload(c);
	assert_int_equal(store_decode_bytes(&c->decoder, &c->stream, in, got), 0);
	if (n)
		assert_memory_equal(got, bytes, n);
	free(in);
	free(got);
}

static void bytes_come_back_same_raw_and_compressed(void **state)
{
	static uint8_t bytes[5000];
	struct codec c;

	(void)state;
	random_init();
	codec_init(&c);
	for (size_t n = 0; n < 100; n++)
		bytes_trip(&c, bytes, n);
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i % 100 / 9);
	bytes_trip(&c, bytes, sizeof(bytes));
	assert_true(c.out.len < sizeof(bytes) / 10);
	random_bytes(bytes, sizeof(bytes));
	bytes_trip(&c, bytes, sizeof(bytes));
	assert_int_equal(c.out.len, STORE_SECTION_HEAD_BYTES + sizeof(bytes));
	codec_release(&c);
}

/* Whatever a payload says, decoding ends in 0 or -EBADMSG and stays inside (a sanitizer build sees to that). */
static void nonsense_is_refused(void **state)
{
	static int64_t v[ROWS_MAX], got[ROWS_MAX];
	unsigned refused = 0;
	struct codec c;

	(void)state;
	random_init();
	codec_init(&c);
	for (int round = 0; round < 3000; round++) {
		size_t rows = 1 + random_below(300);
		uint8_t *bytes;
		int rc;

		make_values(v, rows);
		round_trip(&c, v, rows, false);
		bytes = payload(&c);
		for (size_t i = 0; c.out.len && i < 1 + random_below(4); i++)
			bytes[random_below(c.out.len)] = (uint8_t)random_u64();
		c.stream.width = (uint8_t)(random_below(4) ? c.stream.width : random_below(256));
		c.stream.encoding = (uint8_t)(random_below(4) ? c.stream.encoding : random_below(256));
		c.stream.has_nulls = (uint8_t)(random_below(4) ? c.stream.has_nulls : random_below(3));
		c.stream.bytes = (uint32_t)(random_below(4) ? c.out.len : random_below(c.out.len + 1));
		rc = store_decode_numbers(&c.decoder, &c.stream, bytes, 1 + random_below(rows), got);
		assert_true(rc == 0 || rc == -EBADMSG);
		refused += rc != 0;
		free(bytes);
	}
	assert_true(refused > 0);
	codec_release(&c);
}

static void other_counts_of_rows_are_refused(void **state)
{
	int64_t v[100], got[200];
	struct codec c;

	(void)state;
	codec_init(&c);
	for (size_t i = 0; i < 100; i++)
		v[i] = (int64_t)(i * 7919 % 251);
	round_trip(&c, v, 100, false);
	for (size_t rows = 1; rows <= 200; rows++) {
		int rc = store_decode_numbers(&c.decoder, &c.stream, (const uint8_t *)c.out.data, rows, got);

		assert_int_equal(rc, rows == 100 ? 0 : -EBADMSG);
	}
	codec_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_encoding_is_chosen_where_it_fits),
		cmocka_unit_test(a_constant_step_takes_no_planes),
		cmocka_unit_test(extremes_wrap_around_and_back),
		cmocka_unit_test(random_numbers_come_back),
		cmocka_unit_test(null_patterns_come_back),
		cmocka_unit_test(reals_come_back_bit_by_bit),
		cmocka_unit_test(bytes_come_back_same_raw_and_compressed),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(other_counts_of_rows_are_refused),
	};

	return RUN_TESTS(tests);
}
