/* waggle: science rules in our language, and why others are refused; actions with their words and bounds. */
#include "../../support.h"

#include "base/cleanup.h"
#include "live/rules/action.h"
#include "live/rules/waggle.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

static struct arena arena = ARENA_INIT;

static void becomes(const char *text, const char *expected)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct sonde_err err = SONDE_ERR_INIT;

	if (waggle_condition(&out, text, &arena, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	assert_string_equal(out.data, expected);
}

static void refused(const char *text, const char *because)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct sonde_err err = SONDE_ERR_INIT;

	assert_int_equal(waggle_condition(&out, text, &arena, &err), -EINVAL);
	assert_string_equal(err.text, because);
}

static void conditions_are_translated(void **state)
{
	becomes("avg(v('env.temperature', since='-5m')) > 30", "avg(sonde_app_env_temperature[5m]) > 30");
	becomes("mean(v(\"a\")) >= -1.5", "avg(sonde_app_a[1m]) >= -1.5");
	becomes("min(v('a', since=300)) < 1 and max(v('b')) <= 2",
			"(min(sonde_app_a[300s]) < 1) and "
			"(max(sonde_app_b[1m]) <= 2)");
	becomes("sum(v('a')) == 3 or len(v('a')) != 4",
			"((avg(sonde_app_a[1m]) * count(sonde_app_a[1m])) == 3) or (count(sonde_app_a[1m]) != 4)");
	becomes("sum(rate('r', since='-1h')) > 3", "increase(sonde_app_r[1h]) > 3");
	becomes("avg(rate('r')) > 3", "rate(sonde_app_r[1m]) > 3");
	becomes("any(rate('r'))", "increase(sonde_app_r[1m]) > 0");
	becomes("any(v('a'))", "max(sonde_app_a[1m]) > 0");
	becomes("all(v('a'))", "min(sonde_app_a[1m]) > 0");
	becomes("any(v('a') > 3)", "max(sonde_app_a[1m]) > 3");
	becomes("all(v('a') > 3)", "min(sonde_app_a[1m]) > 3");
	becomes("any(v('a') <= 3)", "min(sonde_app_a[1m]) <= 3");
	becomes("all(v('a') < 3 + 1)", "max(sonde_app_a[1m]) < 3 + 1");
	becomes("not any(v('a'))", "not (max(sonde_app_a[1m]) > 0)");
	becomes("abs(avg(v('a')) - 2) * 3 / 4 % 5 > 1", "abs(avg(sonde_app_a[1m]) - 2) * 3 / 4 % 5 > 1");
	becomes("(1 < 2) and (True or False)", "((1 < 2)) and (((1 == 1) or (1 == 0)))");
	becomes("time(\"hour\") >= 6", "((time() % 86400 - time() % 3600) / 3600) >= 6");
	becomes("time('minute') == 0", "((time() % 3600 - time() % 60) / 60) == 0");
	becomes("time('second') < 30", "((time() - time() % 1) % 60) < 30");
	becomes("cronjob('p', '*/5 * * * *')", "cron(\"*/5 * * * *\") and time() % 60 < 30");
	becomes("- -1 < (2)", "--1 < (2)");
}

static void others_are_refused(void **state)
{
	char deep[200];

	refused("v('a')", "column 7 of the condition: not a condition: expected a comparison");
	refused("1 + 2", "column 6 of the condition: not a condition: expected a comparison");
	refused("1 < 2 3", "column 7 of the condition: unexpected '3'");
	refused("v('a') == 3", "column 12 of the condition: not a condition: expected a comparison");
	refused("any(v('a') == 3)", "column 17 of the condition: samples can be compared by <, <=, > and >= only");
	refused("min(rate('a')) > 1", "column 15 of the condition: 'min' of this is not supported");
	refused("foo(v('a')) > 1", "column 12 of the condition: 'foo' of this is not supported");
	refused("avg(1) > 1", "column 7 of the condition: 'avg' of this is not supported");
	refused("after('x')",
			"column 7 of the condition: after() is not supported: the end of other programs is "
			"not recorded");
	refused("avg(v('A b')) > 1", "column 12 of the condition: invalid measurement name 'A b'");
	refused("avg(v('a', vsn='x')) > 1",
			"column 12 of the condition: measurement metadata is not supported "
			"(only 'since')");
	refused("avg(v('a', since '-5m')) > 1", "column 18 of the condition: missing '='");
	refused("avg(v('a', since='5m')) > 1",
			"column 22 of the condition: 'since' must be a negative duration, "
			"such as '-5m'");
	refused("avg(v('a', since='-0.5m')) > 1",
			"column 25 of the condition: 'since' must be a negative duration, "
			"such as '-5m'");
	refused("avg(v('a', since='-5mm')) > 1",
			"column 24 of the condition: 'since' must be a negative duration, "
			"such as '-5m'");
	refused("avg(v('a', since=0)) > 1",
			"column 18 of the condition: 'since' must be a negative duration, such "
			"as '-5m'");
	refused("avg(v('a', since=86401)) > 1",
			"column 18 of the condition: 'since' must be a negative duration, "
			"such as '-5m'");
	refused("avg(v('a', since=x)) > 1",
			"column 18 of the condition: 'since' must be a negative duration, such "
			"as '-5m'");
	refused("avg(v(a)) > 1", "column 7 of the condition: expected a quoted string");
	refused("avg(v('a)) > 1", "column 7 of the condition: expected a quoted string");
	refused("avg(v('a' > 1", "column 11 of the condition: missing ')'");
	refused("avg(v('a') > 1", "column 15 of the condition: missing ')'");
	refused("(1 < 2", "column 7 of the condition: missing ')'");
	refused("time('day') > 1", "column 12 of the condition: time() supports 'hour', 'minute' and 'second' only");
	refused("time('hour' > 1", "column 13 of the condition: missing ')'");
	refused("cronjob('p')", "column 12 of the condition: cronjob() needs a program and a schedule");
	refused("cronjob('p', '* * * * *'", "column 25 of the condition: missing ')'");
	refused("x > 1", "column 1 of the condition: unknown name 'x'");
	refused("> 1", "column 1 of the condition: something is expected");
	refused(". > 1", "column 1 of the condition: invalid number");
	refused("v('a') + 1 > 2", "column 11 of the condition: + needs numbers: use avg(v(...)), not v(...) alone");
	refused("1 < v('a')", "column 11 of the condition: < needs numbers: use avg(v(...)), not v(...) alone");
	refused("-v('a') < 1", "column 8 of the condition: - needs a number");
	refused("not 1", "column 6 of the condition: 'not' needs a condition");
	refused("1 and 1 < 2", "column 12 of the condition: 'and' needs conditions");
	refused("1 < 2 or 1", "column 11 of the condition: 'or' needs conditions");
	memset(deep, '(', 41);
	strcpy(deep + 41, "1 < 2");
	refused(deep, "column 41 of the condition: nested too deeply");
	memset(deep, '-', 41);
	strcpy(deep + 41, "1 < 2");
	refused(deep, "column 41 of the condition: nested too deeply");
}

static void rules_of_a_list_and_of_a_job(void **state)
{
	static const struct waggle_options none,
			all = { .schedule = "exec start {} "
					    "now",
				.broker = "host:1883",
				.app = "det" };
	static const struct waggle_options same = { .schedule = "exec start" };
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct sonde_err err = SONDE_ERR_INIT;

	assert_int_equal(waggle_import(&out,
					 "# a comment\n\nschedule(\"cloud-cover\"): any(v('a') > 1)\n"
					 "publish(env.rain) : v('a') > 1 or 1 < 2\n",
					 &none, &arena, &err),
			-EINVAL);
	assert_string_equal(err.text, "line 4: column 20 of the condition: 'or' needs conditions");
	buf_reset(&out);
	assert_int_equal(waggle_import(&out,
					 "schedule(a.b): 1 < 2\npublish(\"t\"): 1 < 3\nset(k, x=2, value=5): 1 "
					 "< 4\n",
					 &none, &arena, &err),
			0);
	assert_string_equal(out.data,
			"rules:\n"
			"  # schedule(a.b): 1 < 2\n  - name: schedule-a.b-1\n    when: '1 < 2'\n    do: [ 'report "
			"schedule a.b' ]\n"
			"  # publish(\"t\"): 1 < 3\n  - name: publish-t-2\n    when: '1 < 3'\n    do: [ 'report "
			"publish t' ]\n"
			"  # set(k, x=2, value=5): 1 < 4\n  - name: set-k-3\n    when: '1 < 4'\n    do: [ 'report "
			"set k 5' ]\n");
	buf_reset(&out);
	assert_int_equal(waggle_import(&out,
					 "schedule(a): 1 < 2\npublish(t): 1 < 3\nset(k, value=5): 1 < "
					 "4",
					 &all, &arena, &err),
			0);
	assert_non_null(strstr(out.data, "do: [ 'exec start a now' ]"));
	assert_non_null(strstr(out.data, "do: [ 'mqtt host:1883 t 1' ]"));
	assert_non_null(strstr(out.data, "do: [ 'knob det k 5' ]"));
	buf_reset(&out);
	assert_int_equal(waggle_import(&out,
					 "name: job\nplugins:\n- name: x\nscienceRules:\n- 'schedule(a): 1 < "
					 "2'\n- \"schedule(b): 1 < 3\"\n",
					 &same, &arena, &err),
			0);
	assert_non_null(strstr(out.data, "name: schedule-a-1\n"));
	assert_non_null(strstr(out.data, "name: schedule-b-2\n"));
	assert_non_null(strstr(out.data, "do: [ 'exec start' ]"));
}

static void import_refused(const char *text, int rc, const char *because)
{
	static const struct waggle_options none;
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct sonde_err err = SONDE_ERR_INIT;

	assert_int_equal(waggle_import(&out, text, &none, &arena, &err), rc);
	assert_string_equal(err.text, because);
}

static void wrong_rules_have_their_line(void **state)
{
	char many[65 * 20] = "";

	import_refused("\n# none\n", -EINVAL, "no science rules found");
	import_refused("hello\n", -EINVAL, "line 1: invalid science rule (expected ACTION(NAME): CONDITION)");
	import_refused("schedule(a) 1 < 2\n", -EINVAL,
			"line 1: invalid science rule (expected ACTION(NAME): "
			"CONDITION)");
	import_refused("schedule(a: 1 < 2\n", -EINVAL,
			"line 1: invalid science rule (expected ACTION(NAME): "
			"CONDITION)");
	import_refused("schedule(): 1 < 2\n", -EINVAL,
			"line 1: invalid science rule (expected ACTION(NAME): "
			"CONDITION)");
	import_refused("set(a, b): 1 < 2\n", -EINVAL,
			"line 1: invalid science rule (expected ACTION(NAME): "
			"CONDITION)");
	import_refused("schedule(a;b): 1 < 2\n", -EINVAL, "line 1: invalid name 'a;b'");
	import_refused("set(a): 1 < 2\n", -EINVAL, "line 1: set() needs a value: set(a, value=1)");
	import_refused("\nstart(a): 1 < 2\n", -EINVAL,
			"line 2: unknown action 'start' (supported: schedule, "
			"publish, set)");
	for (int i = 0; i < 64; i++)
		strcat(many, "schedule(a): 1<2\n");
	strcat(many, "schedule(a): 1<2\n");
	import_refused(many, -E2BIG, "too many rules (maximum 64)");
}

/* Actions. */

static struct action parse(const char *text, bool is_range)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct action a;

	if (action_parse(&a, text, is_range, &arena, &err) < 0)
		fail_msg("%s: %s", text, err.text);
	assert_string_equal(a.text, text);
	return a;
}

static void no_action(const char *text, bool is_range, const char *because)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct action a;

	assert_int_equal(action_parse(&a, text, is_range, &arena, &err), -EINVAL);
	assert_string_equal(err.text, because);
}

static void actions_have_words(void **state)
{
	struct action a = parse("weight det 300", false);

	assert_int_equal(a.kind, ACTION_WEIGHT);
	assert_string_equal(a.app, "det");
	assert_true(a.value == 300);
	assert_true(parse("io det 1", false).value == 1);
	assert_true(parse("cap det 0.01", false).value == 0.01);
	assert_true(parse("high det 400M", false).value == 400.0 * 1048576);
	assert_true(parse("memory det 2GiB", false).value == 2147483648.0);
	assert_true(parse("memory det 1M", false).value == 1048576);
	assert_true(parse("memory det 1T", false).value == 1099511627776.0);
	assert_true(parse("memory det 2048K", false).value == 2097152);
	assert_true(parse("pids det 4194304", false).value == 4194304);
	a = parse("knob det batch -8.5", false);
	assert_string_equal(a.name, "batch");
	assert_true(a.value == -8.5);
	assert_null(a.choice);
	a = parse("knob det mode 5x", false);
	assert_string_equal(a.choice, "5x");
	assert_true(isnan(a.value));
	assert_int_equal(parse("freeze det", false).kind, ACTION_FREEZE);
	assert_int_equal(parse("thaw det", false).kind, ACTION_THAW);
	assert_int_equal(parse("end det", false).kind, ACTION_END);
	assert_int_equal(parse("signal det USR1", false).signal, SIGUSR1);
	assert_int_equal(parse("signal det SIGTERM", false).signal, SIGTERM);
	a = parse("exec notify 'two words'", false);
	assert_string_equal(a.argv[0], "notify");
	assert_string_equal(a.argv[1], "two words");
	assert_null(a.argv[2]);
	assert_string_equal(parse("webhook https://x/y", false).name, "https://x/y");
	a = parse("mqtt host:65535 a/b", false);
	assert_string_equal(a.host, "host");
	assert_int_equal(a.port, 65535);
	assert_string_equal(a.name, "a/b");
	assert_int_equal(a.qos, 0);
	a = parse("mqtt host t 1", false);
	assert_int_equal(a.port, 1883);
	assert_int_equal(a.qos, 1);
	assert_int_equal(parse("mqtt host t 0", false).qos, 0);
	assert_int_equal(parse("report a b c", false).kind, ACTION_REPORT);
	for (int kind = 0; kind < ACTION_KINDS; kind++)
		assert_true(strlen(action_word((enum action_kind)kind)) > 1);
	assert_string_equal(action_word(ACTION_MQTT), "mqtt");
}

static void ranges_are_interpolated(void **state)
{
	struct action a = parse("weight det 100..10000", true);

	assert_true(a.rest == 100 && a.full == 10000);
	assert_true(action_value(&a, 0) == 100 && action_value(&a, -1) == 100);
	assert_true(action_value(&a, 1) == 10000 && action_value(&a, 2) == 10000);
	assert_true(fabs(action_value(&a, 0.5) - 1000) < 1e-9);
	a = parse("cap det 2..0.5", true);
	assert_true(fabs(action_value(&a, 0.5) - 1) < 1e-9);
	a = parse("knob det n 10..20", true);
	assert_true(action_value(&a, 0.25) == 12.5);
	a = parse("memory det 1G..512M", true);
	assert_true(a.rest == 1073741824.0 && a.full == 536870912.0);
}

static void wrong_actions_have_reasons(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct action a;

	no_action("", false, "empty action");
	no_action("wait det", false, "unknown action 'wait'");
	assert_int_equal(action_parse(&a, "weigth det 5", false, &arena, &err), -EINVAL);
	assert_string_equal(err.hint, "did you mean 'weight'?");
	no_action("weight det", false, "'weight' needs 2 arguments, not 1");
	no_action("weight det 5 6", false, "'weight' needs 2 arguments, not 3");
	no_action("weight det x", false, "invalid number 'x'");
	no_action("weight det 5Q", false, "invalid number '5Q'");
	no_action("weight det inf", false, "invalid number 'inf'");
	no_action("weight det 0", false, "a weight must be from 1 to 10000, not 0");
	no_action("io det 10001", false, "a weight must be from 1 to 10000, not 10001");
	no_action("cap det 0.009", false, "a cap must be from 0.01 to 4096 CPUs, not 0.009");
	no_action("cap det 4097", false, "a cap must be from 0.01 to 4096 CPUs, not 4097");
	no_action("memory det 1048575", false, "memory must be at least 1M, not 1048575");
	no_action("high det 1", false, "memory must be at least 1M, not 1");
	no_action("pids det 4194305", false, "pids must be from 1 to 4194304, not 4194305");
	no_action("signal det NOPE", false, "unsupported signal 'NOPE'");
	no_action("webhook ftp://x", false, "invalid URL 'ftp://x' (expected http:// or https://)");
	no_action("mqtt :5 t", false, "invalid address ':5' (expected HOST:PORT)");
	no_action("mqtt h: t", false, "invalid address 'h:' (expected HOST:PORT)");
	no_action("mqtt h:5x t", false, "invalid address 'h:5x' (expected HOST:PORT)");
	no_action("mqtt h:0 t", false, "invalid address 'h:0' (expected HOST:PORT)");
	no_action("mqtt h:65536 t", false, "invalid address 'h:65536' (expected HOST:PORT)");
	no_action("mqtt -h:5 t", false, "invalid address '-h:5' (expected HOST:PORT)");
	no_action("mqtt h:5 a/+", false, "invalid topic 'a/+'");
	no_action("mqtt h:5 a 2", false, "invalid QoS '2' (supported: 0, 1)");
	no_action("freeze det", true, "a regulator cannot use 'freeze': it has no range");
	no_action("weight det 5", true, "invalid range '5' (expected rest..full, such as 100..3000)");
	no_action("weight det 5..x", true, "invalid range '5..x' (expected rest..full, such as 100..3000)");
	no_action("weight det 0..5", true, "a weight must be from 1 to 10000, not 0..5");
	no_action("weight det 5..0", true, "a weight must be from 1 to 10000, not 5..0");
	no_action("weight det 5..5", true, "empty range '5..5'");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conditions_are_translated),
		cmocka_unit_test(others_are_refused),
		cmocka_unit_test(rules_of_a_list_and_of_a_job),
		cmocka_unit_test(wrong_rules_have_their_line),
		cmocka_unit_test(actions_have_words),
		cmocka_unit_test(ranges_are_interpolated),
		cmocka_unit_test(wrong_actions_have_reasons),
	};
	int failed = RUN_TESTS(tests);

	arena_release(&arena);
	return failed;
}
