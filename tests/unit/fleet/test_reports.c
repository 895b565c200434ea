/*
 * Lines of a job's command become batches.
 */
#include "../support.h"

#include "fleet/reports.h"

#include <string.h>

static void take(struct fleet_reports *r, const char *text)
{
	fleet_reports_consume(r, text, strlen(text), 1500000000);
}

static void lines_cut_anywhere(void **state)
{
	struct fleet_reports r = { 0 };
	struct buf out = BUF_INIT;

	take(&r, "repo");
	take(&r, "rt 7 0.");
	take(&r, "25\nreport 8 nan\nrep");
	assert_int_equal(r.count, 2);
	fleet_reports_event(&r, 9, &out);
	assert_string_equal(out.data, "{\"event\":\"report\",\"epoch\":9,\"rows\":[[7,0.25,1.5],[8,null,1.5]]}");
	buf_release(&out);
	fleet_reports_release(&r);
}

static void other_lines_are_counted(void **state)
{
	struct fleet_reports r = { 0 };
	char longest[2 * FLEET_REPORT_LINE_MAX];

	memset(longest, '1', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	take(&r, "hello\nreport\nreport x 1\nreport 1\nreport 1 2 x\nreport 99999999999999999999 1\n\n");
	take(&r, "report 1 ");
	take(&r, longest);
	take(&r, "\nreport 2 1e-3\n");
	assert_int_equal(r.bad_lines, 8);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.rows[0].step, 2);
	fleet_reports_release(&r);
}

static void the_newest_stay(void **state)
{
	struct fleet_reports r = { 0 };

	for (int i = 0; i < FLEET_REPORTS_MAX; i++)
		take(&r, "report 1 1\n");
	take(&r, "report 2 2\n");
	assert_int_equal(r.count, FLEET_REPORTS_MAX);
	assert_int_equal(r.dropped, 1);
	assert_int_equal(r.rows[FLEET_REPORTS_MAX - 1].step, 2);
	fleet_reports_release(&r);
}

static void workers_configurations_and_notes(void **state)
{
	struct fleet_reports r = { 0 };
	struct buf out = BUF_INIT;

	take(&r, "report 1 0.5 2 3\nreport 2 0.25 1\nevent {\"event\":\"config\"}\nevent {\"reached\":true}\n");
	take(&r, "event no JSON\nevent [1]\nreport 3 1 -1\nreport 4 1 1 1 1\n");
	assert_true(fleet_reports_wait(&r));
	assert_int_equal(r.bad_lines, 4);
	fleet_reports_event(&r, 9, &out);
	assert_string_equal(out.data,
			"{\"event\":\"report\",\"epoch\":9,\"rows\":[[1,0.5,1.5,2,3],[2,0.25,1.5,1]],"
			"\"notes\":[{\"event\":\"config\"},{\"reached\":true}]}");
	fleet_reports_reset(&r);
	assert_false(fleet_reports_wait(&r));
	buf_release(&out);
	fleet_reports_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_cut_anywhere),
		cmocka_unit_test(other_lines_are_counted),
		cmocka_unit_test(the_newest_stay),
		cmocka_unit_test(workers_configurations_and_notes),
	};

	return cmocka_run_group_tests_name("reports", tests, NULL, NULL);
}
