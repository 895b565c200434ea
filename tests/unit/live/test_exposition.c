/* exposition: names that readers take, labels that cannot break a line, and the differences of the two formats. */
#include "../support.h"

#include "live/exposition.h"

#include <math.h>
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
	struct exposition x = { .out = &out, .is_openmetrics = is_openmetrics };

	exposition_family(&x, "a", type, "Help.");
	exposition_sample(&x, "", value, "app", label, NULL);
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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names), cmocka_unit_test(test_formats),
		cmocka_unit_test(test_labels) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
