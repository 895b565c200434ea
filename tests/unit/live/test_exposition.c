/* exposition: names that readers take, labels that cannot break a line, and the differences of the two formats. */
#include "../support.h"

#include "live/exposition.h"
#include "sonde/shm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void assert_name(const char *text, const char *want)
{
	char name[64];

	exposition_name(name, sizeof(name), "sonde_app_", text);
	assert_string_equal(name, want);
}

static void test_names(void **state)
{
	char small[16];

	assert_name("queue_depth", "sonde_app_queue_depth");
	assert_name("framesSeen", "sonde_app_frames_seen");
	assert_name("RAM_usage", "sonde_app_ram_usage");
	assert_name("env.count car-\xff", "sonde_app_env_count_car__");
	exposition_name(small, sizeof(small), "sonde_app_", "much_too_long");
	assert_true(strlen(small) < sizeof(small));
}

static void assert_text(bool is_openmetrics, enum exposition_type type, double value, const char *label,
		const char *want)
{
	struct buf out = BUF_INIT;
	struct exposition x = { .out = &out, .format = is_openmetrics ? EXPOSITION_OPENMETRICS : EXPOSITION_TEXT };

	exposition_family(&x, "a", type, "Help.");
	exposition_sample(&x, value, "app", label, NULL);
	exposition_end(&x);
	assert_string_equal(out.data, want);
	buf_release(&out);
}

static void test_formats(void **state)
{
	assert_text(false, EXPOSITION_COUNTER, 3, "x",
			"# HELP a_total Help.\n# TYPE a_total counter\na_total{app=\"x\"} 3\n");
	assert_text(true, EXPOSITION_COUNTER, 3, "x",
			"# HELP a Help.\n# TYPE a counter\na_total{app=\"x\"} 3\n# EOF\n");
	assert_text(false, EXPOSITION_INFO, 1, "x", "# HELP a_info Help.\n# TYPE a_info gauge\na_info{app=\"x\"} 1\n");
	assert_text(true, EXPOSITION_INFO, 1, "x", "# HELP a Help.\n# TYPE a info\na_info{app=\"x\"} 1\n# EOF\n");
	assert_text(false, EXPOSITION_GAUGE, INFINITY, "x", "# HELP a Help.\n# TYPE a gauge\na{app=\"x\"} +Inf\n");
}

/* Quotes, newlines and backslashes are escaped; bytes that are no UTF-8 are replaced one by one. */
static void test_labels(void **state)
{
	assert_text(false, EXPOSITION_GAUGE, 1, "\"\n\\", "# HELP a Help.\n# TYPE a gauge\na{app=\"\\\"\\n\\\\\"} 1\n");
	assert_text(false, EXPOSITION_GAUGE, 1, "\xc3\xa4\xff\xe2\x82",
			"# HELP a Help.\n# TYPE a gauge\na{app=\"\xc3\xa4???\"} 1\n");
}

static double written(double value, char *text, size_t size)
{
	struct buf out = BUF_INIT;
	struct exposition x = { .out = &out };

	exposition_sample(&x, value, NULL);
	snprintf(text, size, "%.*s", (int)strcspn(strchr(out.data, ' ') + 1, "\n"), strchr(out.data, ' ') + 1);
	buf_release(&out);
	return strtod(text, NULL);
}

/* What has few decimals is written with few; whatever it is, it reads back the same. */
static void test_numbers(void **state)
{
	static const struct {
		double value;
		const char *want;
	} rows[] = { { 0, "0" }, { 7, "7" }, { 0.12, "0.12" }, { 40.5, "40.5" }, { 1e-9, "0.000000001" },
		{ 123456.000001, "123456.000001" }, { 899999.999999999, "899999.999999999" },
		{ 9e15, "9000000000000000" }, { -2.5, "-2.5" }, { 1e300, NULL }, { 1e-300, NULL }, { 0.1 + 0.2, NULL },
		{ -0.0, "-0" }, { NAN, "NaN" }, { -INFINITY, "-Inf" } };
	char text[64];

	random_init();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double back = written(rows[i].value, text, sizeof(text));

		assert_true(back == rows[i].value || isnan(back));
		if (rows[i].want)
			assert_string_equal(text, rows[i].want);
	}
	for (int i = 0; i < 100000; i++) {
		double value = (double)random_u64() / (double)(1 + (random_u64() >> (random_u64() % 64)));

		assert_true(written(value, text, sizeof(text)) == value);
		value = (double)(random_u64() % 10000000) / 1000;
		assert_true(written(value, text, sizeof(text)) == value);
		assert_true(strlen(text) <= 8);
	}
}

static void take(void *arg, const char *name, const struct exposition_label *labels, size_t count, double value)
{
	buf_addf(arg, "%s/%zu/%s=%g;", name, count, count ? labels[0].value : "", value);
}

/* A sink gets the names that queries use. */
static void test_sink(void **state)
{
	struct buf out = BUF_INIT;
	struct exposition x = { .sink = take, .sink_arg = &out };
	const struct exposition_label label = { "app", "x" };

	exposition_family(&x, "a", EXPOSITION_COUNTER, "Help.");
	exposition_sample(&x, 3, "app", "x", "none", NULL, NULL);
	exposition_family(&x, "b", EXPOSITION_SUMMARY, "Help.");
	exposition_summary(&x, 1.5, 2, &label, 1);
	exposition_end(&x);
	assert_string_equal(out.data, "a_total/1/x=3;b_sum/1/x=1.5;b_count/1/x=2;");
	buf_release(&out);
}

/* What is on a bound is in the bucket below it, and bounds are powers of the fourth root of two. */
static void test_buckets(void **state)
{
	assert_int_equal(sonde_histogram_bucket(0), 0);
	assert_int_equal(sonde_histogram_bucket(-1), 0);
	assert_int_equal(sonde_histogram_bucket(exp2(-30)), 0);
	assert_int_equal(sonde_histogram_bucket(1e300), SONDE_HISTOGRAM_BUCKETS - 1);
	for (int i = 1; i < (int)SONDE_HISTOGRAM_BUCKETS - 1; i++) {
		double bound = exp2((i - 120) / 4.0);

		assert_int_equal(sonde_histogram_bucket(bound), i);
		assert_int_equal(sonde_histogram_bucket(bound * 1.0001), i + 1);
		assert_int_equal(sonde_histogram_bucket(bound * 0.9999), i);
	}
}

/* An example stands in OpenMetrics alone, with the bucket that it is in. */
static void test_histogram(void **state)
{
	uint64_t buckets[SONDE_HISTOGRAM_BUCKETS] = { 0 };
	struct exposition_histogram h = { buckets, 3, 3.6, 3, "pid", "12" };
	struct buf out = BUF_INIT;
	struct exposition x = { .out = &out, .format = EXPOSITION_OPENMETRICS };

	buckets[sonde_histogram_bucket(0.3)] = 2;
	buckets[sonde_histogram_bucket(3)] = 1;
	exposition_family(&x, "h", EXPOSITION_HISTOGRAM, "Help.");
	exposition_histogram(&x, &h, NULL, 0);
	assert_non_null(strstr(out.data, "h_bucket{le=\"0.5\"} 2\n"));
	assert_non_null(strstr(out.data, "h_bucket{le=\"4.0\"} 3 # {pid=\"12\"} 3\n"));
	assert_non_null(strstr(out.data, "h_bucket{le=\"+Inf\"} 3\n"));
	assert_non_null(strstr(out.data, "h_count 3\n"));
	buf_reset(&out);
	x.format = EXPOSITION_TEXT;
	exposition_histogram(&x, &h, NULL, 0);
	assert_null(strstr(out.data, "# {"));
	buf_release(&out);
}

static void test_choice(void **state)
{
	assert_int_equal(exposition_choose(NULL), EXPOSITION_TEXT);
	assert_int_equal(exposition_choose("*/*"), EXPOSITION_TEXT);
	assert_int_equal(exposition_choose("application/openmetrics-text;version=1.0.0,text/plain"),
			EXPOSITION_OPENMETRICS);
	assert_int_equal(exposition_choose("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
					   "encoding=delimited,application/openmetrics-text;q=0.7"),
			EXPOSITION_PROTOBUF);
}

/* The bytes of a counter's family, by hand. */
static void test_protobuf(void **state)
{
	static const char want[] = "\x29\x0a\x07"
				   "a_total\x12\x05Help.\x18\x00\x22\x15"
				   "\x0a\x08\x0a\x03"
				   "app\x12\x01x\x1a\x09\x09\0\0\0\0\0\0\x08\x40";
	struct buf out = BUF_INIT;
	struct exposition x = { .out = &out, .format = EXPOSITION_PROTOBUF };

	exposition_family(&x, "a", EXPOSITION_COUNTER, "Help.");
	exposition_sample(&x, 3, "app", "x", NULL);
	exposition_end(&x);
	assert_int_equal(out.len, sizeof(want) - 1);
	assert_memory_equal(out.data, want, out.len);
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names), cmocka_unit_test(test_formats),
		cmocka_unit_test(test_labels), cmocka_unit_test(test_numbers), cmocka_unit_test(test_sink),
		cmocka_unit_test(test_buckets), cmocka_unit_test(test_histogram), cmocka_unit_test(test_choice),
		cmocka_unit_test(test_protobuf) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
