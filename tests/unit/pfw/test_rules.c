/* rules: what they say of events, and that nonsense is left out. */
#include "../support.h"

#include "pfw/pfwlog.h"

#include <stdio.h>
#include <string.h>

#define TEXT(value) \
	{ \
		.text = (value), .bytes = strlen(value) \
	}

static bool find_arg(const void *of, const char *key, size_t n, struct rule_value *value)
{
	(void)of;
	if (n == 3 && !memcmp(key, "ret", 3)) {
		*value = (struct rule_value){ .number = 4096 };
		return true;
	}
	if (n == 4 && !memcmp(key, "what", 4)) {
		*value = (struct rule_value)TEXT("a thing");
		return true;
	}
	return false;
}

static const struct rule_event read_event = { .name = TEXT("read"),
	.cat = TEXT("POSIX"),
	.app = TEXT("train"),
	.ts = 1000,
	.dur = 50,
	.rank = 3,
	.arg = find_arg };

static const struct {
	const char *rule;
	bool holds;
} singles[] = {
	{ "cat == 'POSIX'", true },
	{ "cat == 'posix'", true },
	{ "cat == \"STDIO\"", false },
	{ "cat != STDIO", true },
	{ "name == read", true },
	{ "name == READ", false },
	{ "name = 'read'", true },
	{ "name LIKE 're*'", true },
	{ "name LIKE 're%'", true },
	{ "name LIKE '*a*'", true },
	{ "name LIKE 'r??d'", true },
	{ "name LIKE 'r?d'", false },
	{ "name LIKE '*x*'", false },
	{ "name like '*'", true },
	{ "name NOT LIKE 're*'", false },
	{ "name IN {open, read, close}", true },
	{ "name IN {'open','close'}", false },
	{ "name NOT IN {open}", true },
	{ "dur < 51", true },
	{ "dur < 50", false },
	{ "dur <= 50", true },
	{ "dur > 49", true },
	{ "dur>=51", false },
	{ "dur == 50", true },
	{ "dur IN {49, 50}", true },
	{ "dur > -1", true },
	{ "dur > word", false },
	{ "ts >= 1000", true },
	{ "app == train", true },
	{ "rank == 3", true },
	{ "args.ret > 4095", true },
	{ "args.ret == 4096 AND cat == POSIX", true },
	{ "args.what == 'a thing'", true },
	{ "args.what LIKE 'a*'", true },
	{ "args.nothing == 1", false },
	{ "args.nothing != 1", false },
	{ "NOT args.nothing == 1", true },
	{ "name == open OR name == read", true },
	{ "name == open AND name == read", false },
	{ "name == open OR cat == POSIX AND dur > 10", true },
	{ "(name == open OR cat == POSIX) AND dur > 100", false },
	{ "NOT (name == open)", true },
	{ "NOT NOT name == read", true },
	{ "name > 'reac'", true },
	{ "name < 'reae'", true },
};

static const char *const nonsense[] = { "", "name", "name ==", "== 3", "name == 'open", "name IN", "name IN {",
	"name IN {}", "name IN {a", "(name == a", "name == a)", "name == a b", "AND", "name == a AND", "NOT",
	"dur => 5", "\xff\xfe", "name LIKE" };

static bool holds(const char *lines)
{
	static struct aggregation_rules rules;

	rules_read(&rules, lines);
	return rules_hold(&rules, &read_event);
}

static void test_single(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(singles) / sizeof(*singles); i++) {
		static struct aggregation_rules rules;
		char line[256];

		snprintf(line, sizeof(line), "+%s\n", singles[i].rule);
		rules_read(&rules, line);
		if (rules.broken || rules_hold(&rules, &read_event) != singles[i].holds)
			fail_msg("'%s' is %s", singles[i].rule, rules.broken ? "nonsense" : "judged wrongly");
	}
}

static void test_nonsense(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(nonsense) / sizeof(*nonsense); i++) {
		static struct aggregation_rules rules;
		char lines[256];

		snprintf(lines, sizeof(lines), "+%s\n+name == read\n", nonsense[i]);
		rules_read(&rules, lines);
		if (rules.broken != 1 || rules.included != 1 || !rules_hold(&rules, &read_event))
			fail_msg("'%s': %u broken, %u included", nonsense[i], rules.broken, rules.included);
	}
}

static void test_together(void **state)
{
	(void)state;
	assert_false(holds(""));
	assert_true(holds("+name == open\n+name == read\n"));
	assert_false(holds("+name == open\n"));
	assert_false(holds("+cat == POSIX\n-name == read\n"));
	assert_true(holds("+cat == POSIX\n-name == stat\n"));
	assert_false(holds("-name == read\n+cat == POSIX\n"));
	assert_true(holds("-name == stat\n")); /* nothing is included by name: everything is */
	assert_false(holds("-name == read\n"));
}

/* However long and deep a text is. */
static void test_limits(void **state)
{
	static char lines[3 * RULES_TEXT_BYTES];
	static struct aggregation_rules rules;

	(void)state;
	memset(lines, '(', sizeof(lines) - 1);
	lines[0] = '+';
	rules_read(&rules, lines);
	assert_int_equal(rules.broken, 1);
	for (size_t i = 0; i + 5 < sizeof(lines); i += 5)
		memcpy(lines + i, "+a=1\n", 5);
	rules_read(&rules, lines);
	assert_int_equal(rules.rule_count, RULES_MAX);
	for (size_t i = 1; i + 4 < sizeof(lines); i += 4)
		memcpy(lines + i, "NOT ", 4);
	rules_read(&rules, lines);
	assert_int_equal(rules.broken, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_single),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_together),
		cmocka_unit_test(test_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
