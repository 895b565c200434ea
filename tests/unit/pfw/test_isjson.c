/* is_json: what may go into a line as it is. */
#include "../support.h"

#include "pfw/log-line.h"

#include <string.h>

static const char *const good[] = { "0", "-1", "1.5", "1e9", "2.5E-3", "null", "true", "false", "\"\"",
	"\"a\\n\\u00ff\\\"\"", "[]", "{}", "[1, 2,[3]]", "{\"a\":1,\"b\":[\"c\"]}", " 7 ",
	"{\"used\":[\"8f0de68c04eea0bf\"]}" };
static const char *const bad[] = { "", " ", "01", "-", "1.", "1e", ".5", "nan", "Infinity", "\"", "\"a", "\"\n\"",
	"\"\\x\"", "\"\\u12g4\"", "[1,]", "[1", "1]", "{\"a\"}", "{a:1}", "{\"a\":1,}", "1 2", "tru", "\"\xff\"",
	"[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]]" };

static void test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		if (!is_json(good[i], strlen(good[i])))
			fail_msg("'%s' is JSON", good[i]);
}

static void test_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (is_json(bad[i], strlen(bad[i])))
			fail_msg("'%s' is no JSON", bad[i]);
	assert_false(is_json("12\0", 3));
	assert_true(is_json("123", 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
