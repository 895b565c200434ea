/* cron: which minutes an entry selects, and which entries are refused. */
#include "../support.h"

#include "config/cron.h"

#include <errno.h>
#include <stdio.h>

static bool matches(const char *text, int minute, int hour, int day, int month, int weekday)
{
	struct tm at = { .tm_min = minute, .tm_hour = hour, .tm_mday = day, .tm_mon = month - 1, .tm_wday = weekday };
	struct sonde_err err = SONDE_ERR_INIT;
	struct cron c;

	if (cron_parse(&c, text, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return cron_matches(&c, &at);
}

static void test_fields(void **state)
{
	assert_true(matches("* * * * *", 5, 5, 5, 5, 5));
	assert_true(matches("  0   0 1 1 0  ", 0, 0, 1, 1, 0));
	assert_true(matches("59 23 31 12 6", 59, 23, 31, 12, 6));
	assert_false(matches("59 23 31 12 *", 58, 23, 31, 12, 6));
	assert_false(matches("59 23 31 12 *", 59, 22, 31, 12, 6));
	assert_false(matches("59 23 31 12 *", 59, 23, 30, 12, 6));
	assert_false(matches("59 23 31 12 *", 59, 23, 31, 11, 6));
	assert_false(matches("* * * * 5", 0, 0, 1, 1, 6));
}

static void test_sets(void **state)
{
	assert_true(matches("*/15 8-18 * * 1-5", 30, 8, 1, 1, 1));
	assert_true(matches("*/15 8-18 * * 1-5", 0, 18, 1, 1, 5));
	assert_false(matches("*/15 8-18 * * 1-5", 31, 8, 1, 1, 1));
	assert_false(matches("*/15 8-18 * * 1-5", 30, 7, 1, 1, 1));
	assert_false(matches("*/15 8-18 * * 1-5", 30, 19, 1, 1, 1));
	assert_false(matches("*/15 8-18 * * 1-5", 30, 8, 1, 1, 0));
	assert_true(matches("0,30 1,2 * * *", 30, 2, 3, 3, 3));
	assert_false(matches("0,30 1,2 * * *", 29, 2, 3, 3, 3));
	assert_true(matches("10-20/5,40 * * * *", 15, 0, 1, 1, 1));
	assert_true(matches("10-20/5,40 * * * *", 40, 0, 1, 1, 1));
	assert_false(matches("10-20/5,40 * * * *", 16, 0, 1, 1, 1));
	assert_false(matches("10-20/5,40 * * * *", 25, 0, 1, 1, 1));
	assert_true(matches("*/60 * * * *", 0, 0, 1, 1, 1));
	assert_true(matches("7 7-7 * * *", 7, 7, 1, 1, 1));
}

static void test_days(void **state)
{
	/* Sunday is 0 and 7. */
	assert_true(matches("0 0 * * 7", 0, 0, 3, 3, 0));
	assert_true(matches("0 0 * * 0", 0, 0, 3, 3, 0));
	assert_true(matches("0 0 * * 5-7", 0, 0, 3, 3, 0));
	assert_false(matches("0 0 * * 7", 0, 0, 3, 3, 1));
	/* Both days restricted: either matches. One of them restricted: that one decides. */
	assert_true(matches("0 0 13 * 5", 0, 0, 13, 3, 2));
	assert_true(matches("0 0 13 * 5", 0, 0, 12, 3, 5));
	assert_false(matches("0 0 13 * 5", 0, 0, 12, 3, 4));
	assert_false(matches("0 0 13 * *", 0, 0, 12, 3, 5));
	assert_false(matches("0 0 * * 5", 0, 0, 13, 3, 4));
	assert_false(matches("0 0 */2 * 5", 0, 0, 2, 3, 5));
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} wrong[] = {
		{ "60 * * * *", "minute" },
		{ "* 24 * * *", "hour" },
		{ "* * 0 * *", "day" },
		{ "* * 32 * *", "day" },
		{ "* * * 0 *", "month" },
		{ "* * * 13 *", "month" },
		{ "* * * * 8", "weekday" },
		{ "5-4 * * * *", "minute" },
		{ "*/0 * * * *", "minute" },
		{ "*/61 * * * *", "minute" },
		{ "*/ * * * *", "minute" },
		{ "1- * * * *", "minute" },
		{ "-1 * * * *", "minute" },
		{ "1x * * * *", "minute" },
		{ "* 1,x * * *", "hour" },
		{ "* * *", "month" },
		{ "", "minute" },
		{ "* * * * mon", "weekday" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct sonde_err err = SONDE_ERR_INIT;
		char want[128];
		struct cron c;

		snprintf(want, sizeof(want), "invalid cron schedule '%s': invalid %s", wrong[i].text, wrong[i].why);
		assert_int_equal(cron_parse(&c, wrong[i].text, &err), -EINVAL);
		assert_string_equal(err.text, want);
	}
	struct sonde_err err = SONDE_ERR_INIT;
	struct cron c;

	assert_int_equal(cron_parse(&c, "* * * * * *", &err), -EINVAL);
	assert_string_equal(err.text, "invalid cron schedule '* * * * * *': more than five fields");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_days),
		cmocka_unit_test(test_refused),
	};

	return RUN_TESTS(tests);
}
