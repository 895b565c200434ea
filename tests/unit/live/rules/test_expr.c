/* expr: what compiles, what does not and why; values over known samples; unknown is neither true nor false. */
#include "../../support.h"

#include "config/cron.h"
#include "live/rules/rule-expr.h"

#include <math.h>
#include <string.h>

#define SECOND 1000000000LL

static struct arena arena = ARENA_INIT;
static struct memory memory = MEMORY_INIT;
static struct expr_now now = { .mono_ns = 100 * SECOND, .stale_ns = 5 * SECOND, .is_utc = true };

static struct expr_value eval(const char *text, enum expr_type type)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct expr *e = NULL;

	if (rule_expr_compile(&e, text, type, &arena, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	return rule_expr_eval(e, &memory, &now);
}

static void assert_number(const char *text, double want)
{
	struct expr_value v = eval(text, EXPR_NUMBER);

	if (!v.is_known || fabs(v.number - want) > 1e-9)
		fail_msg("%s is %g (%s), not %g", text, v.number, v.is_known ? "known" : v.why, want);
}

static void assert_truth(const char *text, char want)
{
	struct expr_value v = eval(text, EXPR_TRUTH);
	char have = !v.is_known ? '?' : v.number != 0 ? 't' : 'f';

	if (have != want)
		fail_msg("%s is %c (%s), not %c", text, have, v.why, want);
}

static void assert_refused(const char *text, const char *because)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct expr *e = NULL;

	assert_true(rule_expr_compile(&e, text, EXPR_TRUTH, &arena, &err) < 0);
	if (!strstr(err.text, because))
		fail_msg("%s: '%s' does not say '%s'", text, err.text, because);
}

static void add(const char *name, const char *app, double seconds, double value)
{
	struct memory_label label = { "app", app };

	assert_int_equal(memory_add(&memory, name, &label, 1, (int64_t)(seconds * SECOND), value), 0);
}

static int set_up(void **state)
{
	static const char *const names[] = { "frames", "gauge", "old", "reset" };

	for (size_t i = 0; i < 4; i++)
		assert_int_equal(memory_watch(&memory, names[i], 60 * SECOND), 0);
	for (int i = 0; i <= 10; i++) {
		add("frames", "a", 90 + i, 100 + 15 * i);
		add("frames", "b", 90 + i, 5 * i);
		add("gauge", "a", 90 + i, i);
		add("reset", "a", 90 + i, i < 5 ? 10 * i : 10 * (i - 5));
	}
	add("old", "a", 50, 7);
	add("gauge", "a", 100, NAN);
	add("never watched", "a", 100, 1);
	return 0;
}

static int tear_down(void **state)
{
	memory_release(&memory);
	arena_release(&arena);
	return 0;
}

static void test_arithmetic(void **state)
{
	assert_number("1 + 2 * 3 - 8 / 4", 5);
	assert_number("-(1 + 2) * 2", -6);
	assert_number("7 % 4", 3);
	assert_number("abs(-2.5)", 2.5);
	assert_number("1m + 500ms", 60.5);
	assert_truth("1 < 2 and not 2 <= 1 or false", 't');
	assert_truth("1 == 1 and 1 != 1", 'f');
}

static void test_windows(void **state)
{
	assert_number("rate(frames{app=\"a\"}[10s])", 15);
	assert_number("rate(frames[10s])", 20);
	assert_number("rate(frames{app!=\"a\"}[10s])", 5);
	assert_number("increase(frames{app=\"a\"}[10s])", 150);
	assert_number("increase(reset[20s])", 40 + 50);
	assert_number("delta(gauge[4s])", 4);
	assert_number("avg(gauge[4s])", 8.5);
	assert_number("max(gauge[20s])", 10);
	assert_number("count(gauge[4s])", 4);
	assert_number("quantile(0.5, gauge[20s])", 5);
	assert_number("quantile(1, gauge[20s])", 10);
	assert_truth("ewma(gauge[9s]) > avg(gauge[9s])", 't');
}

static void test_several_series(void **state)
{
	assert_number("sum(frames)", 250 + 50);
	assert_number("count(frames)", 2);
	assert_number("max(frames)", 250);
	assert_number("frames{app=\"b\"}", 50);
	assert_truth("frames > 0", '?');
}

static void test_three_values(void **state)
{
	assert_truth("nothing > 1", '?');
	assert_truth("old > 1", '?');
	assert_truth("not (nothing > 1)", '?');
	assert_truth("nothing > 1 and false", 'f');
	assert_truth("nothing > 1 or true", 't');
	assert_truth("nothing > 1 or false", '?');
	assert_truth("gauge / 0 > 1", '?');
	assert_truth("rate(old[10s]) < 1", '?');
	assert_truth("stale(old, 10s)", 't');
	assert_truth("stale(nothing, 10s)", 't');
	assert_truth("stale(gauge, 10s)", 'f');
	assert_truth("present(gauge) and not present(old)", 't');
	assert_truth("after(gauge, 5s)", 't');
	assert_truth("after(gauge, 1m)", 'f');
}

static void test_refusals(void **state)
{
	assert_refused("rate(gauge) > 1", "does not accept (series)");
	assert_refused("1 + 1", "expected a boolean, not a number");
	assert_refused("gauge > ", "expected a value at the end");
	assert_refused("gauge > 1 1", "expected an operator");
	assert_refused("ratte(gauge[1s]) > 1", "unknown function 'ratte'");
	assert_refused("gauge[1] > 1", "invalid window");
	assert_refused("gauge{app=x} > 1", "double quotes");
	assert_refused("gauge{app=\"x} > 1", "missing closing quote");
	assert_refused("(gauge > 1", "missing ')'");
	assert_refused("cron(\"* * *\")", "invalid month");
	assert_refused("true < false", "does not accept (boolean, boolean)");
	assert_refused("((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((((1", "too deeply");
	assert_refused("", "expected a value at the end");
	assert_refused("gauge > 1 $", "expected an operator");
}

static void assert_cron(const char *text, int minute, int hour, int day, int month, int weekday, bool want)
{
	struct tm at = { .tm_min = minute, .tm_hour = hour, .tm_mday = day, .tm_mon = month - 1, .tm_wday = weekday };
	struct cron c;

	assert_int_equal(cron_parse(&c, text, NULL), 0);
	assert_int_equal(cron_matches(&c, &at), want);
}

static void test_cron(void **state)
{
	assert_cron("* * * * *", 5, 5, 5, 5, 5, true);
	assert_cron("*/15 8-18 * * 1-5", 30, 8, 1, 1, 1, true);
	assert_cron("*/15 8-18 * * 1-5", 31, 8, 1, 1, 1, false);
	assert_cron("*/15 8-18 * * 1-5", 30, 8, 1, 1, 0, false);
	assert_cron("0 0 * * 7", 0, 0, 3, 3, 0, true);
	assert_cron("0 0 13 * 5", 0, 0, 13, 3, 2, true);
	assert_cron("0 0 13 * 5", 0, 0, 12, 3, 5, true);
	assert_cron("0,30 1,2 * * *", 30, 2, 3, 3, 3, true);
	now.real_ns = 1700000000 * SECOND; /* Tuesday 2023-11-14 22:13:20 UTC */
	assert_truth("cron(\"13 22 14 11 *\")", 't');
	assert_truth("cron(\"14 22 14 11 *\")", 'f');
}

static void test_explain(void **state)
{
	struct buf out = BUF_INIT;
	struct expr *e = NULL;

	assert_int_equal(rule_expr_compile(&e, "rate(frames{app=\"a\"}[10s]) < 30 and nothing > 1", EXPR_TRUTH, &arena,
					 NULL),
			0);
	rule_expr_explain(&out, e, &memory, &now);
	assert_non_null(strstr(out.data, "rate(frames{app=\"a\"}[10s]) < 30 = true\n"));
	assert_non_null(strstr(out.data, "rate(frames{app=\"a\"}[10s]) = 15\n"));
	assert_non_null(strstr(out.data, "nothing = unknown (nothing not found)\n"));
	buf_reset(&out);
	rule_expr_why(&out, e, &memory, &now);
	assert_string_equal(out.data, "rate(frames{app=\"a\"}[10s]) = 15, nothing = unknown (nothing not found)");
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arithmetic),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_several_series),
		cmocka_unit_test(test_three_values),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_cron),
		cmocka_unit_test(test_explain),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
