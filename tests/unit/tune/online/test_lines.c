/* lines: cut anywhere, whole or counted; reports and nothing else. */
#include "../../support.h"

#include "tune/online-journal.h"

#include <math.h>
#include <string.h>

static void good_reports(void **state)
{
	struct train_report r;

	assert_true(train_report_parse("report 12 0.5", &r));
	assert_true(r.step == 12 && r.loss == 0.5 && r.worker == 0 && !r.has_config);
	assert_true(train_report_parse("report -3 1e-3 7", &r));
	assert_true(r.step == -3 && r.loss == 1e-3 && r.worker == 7 && !r.has_config);
	assert_true(train_report_parse("report 1 nan 0 4", &r));
	assert_true(isnan(r.loss) && r.has_config && r.config == 4);
}

static void bad_reports(void **state)
{
	static const char *const bad[] = { "", "report", "report ", "report 1", "report 1 ", "report x 1", "report 1 x",
		"reports 1 2", "report 1 2 x", "report 1 2 -1", "report 1 2 3 x", "report 1 2 3 4 5",
		"report 1 2 99999999999999999999", "report 99999999999999999999 1", "report 1 2  3", "stop" };
	struct train_report r;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (train_report_parse(bad[i], &r))
			fail_msg("'%s'", bad[i]);
}

static void add(void *arg, const char *line)
{
	strcat(arg, line);
	strcat(arg, "|");
}

static void lines_are_cut_anywhere(void **state)
{
	static const char text[] = "one\ntwo\n\nthree\nrest";
	char got[100];

	for (size_t cut = 1; cut < sizeof(text) - 1; cut++) {
		struct train_lines l = { 0 };

		got[0] = '\0';
		train_lines_consume(&l, text, cut, add, got);
		train_lines_consume(&l, text + cut, sizeof(text) - 1 - cut, add, got);
		assert_string_equal(got, "one|two||three|");
	}
}

static void long_lines_are_counted(void **state)
{
	char bytes[3 * TRAIN_LINE_MAX], got[100] = "";
	struct train_lines l = { 0 };

	memset(bytes, 'x', sizeof(bytes));
	train_lines_consume(&l, bytes, sizeof(bytes), add, got);
	train_lines_consume(&l, "\nshort\n", 7, add, got);
	assert_string_equal(got, "short|");
	assert_int_equal(l.bad, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_reports),
		cmocka_unit_test(bad_reports),
		cmocka_unit_test(lines_are_cut_anywhere),
		cmocka_unit_test(long_lines_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
