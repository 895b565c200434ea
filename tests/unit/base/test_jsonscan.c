/* Which texts are one JSON object, or one value that may be put into a line: compared with jansson. */
#include "../support.h"

#include "base/jsonscan.h"

#include <jansson.h>
#include <string.h>

static const char *const good[] = {
	"{}",
	" { } ",
	"{\"a\":1}",
	"{\"a\":-1.5e+10,\"b\":[1,2,[]],\"c\":{\"d\":null}}",
	"{\"a\":true,\"b\":false}",
	"{\"\":\"\\u00e9\\n\\\\\\\"\\/\"}",
	"{\"a\":\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"}",
	"{\"a\":0}",
	"{\"a\":0.5}",
	"{ \"a\" : [ ] , \"b\" : { } }",
};

static const char *const bad[] = {
	"",
	" ",
	"[]",
	"1",
	"null",
	"{",
	"}",
	"{}}",
	"{} x",
	"{a:1}",
	"{\"a\"}",
	"{\"a\":}",
	"{\"a\":1,}",
	"{,}",
	"{\"a\":01}",
	"{\"a\":-}",
	"{\"a\":1.}",
	"{\"a\":.5}",
	"{\"a\":1e}",
	"{\"a\":tru}",
	"{\"a\":nan}",
	"{\"a\":\"\n\"}",
	"{\"a\":\"\\x\"}",
	"{\"a\":\"\\u12g4\"}",
	"{\"a\":\"unclosed}",
	"{\"a\":[1,2}",
	"{\"a\":\"\xff\"}",
	"{\"a\":\"\xc0\xaf\"}",
	"{\"a\":\"\xed\xa0\x80\"}",
	"{\"a\":\"\xf5\x80\x80\x80\"}",
	"{\"a\":1}\n{\"b\":2}",
	"{\"a\":\n1}",
};

static void knows_good_from_bad(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_true(jsonscan_is_object(good[i], strlen(good[i])));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(jsonscan_is_object(bad[i], strlen(bad[i])));
}

static void every_part_of_a_good_one_is_bad(void **state)
{
	static const char whole[] = "{\"a\":[1.5e3,\"\\u00e9\xc3\xa9\",true],\"b\":{}}";

	(void)state;
	for (size_t n = 0; n < sizeof(whole) - 1; n++)
		assert_false(jsonscan_is_object(whole, n));
	assert_true(jsonscan_is_object(whole, sizeof(whole) - 1));
	assert_false(jsonscan_is_object(whole, sizeof(whole))); /* with its NUL */
}

static const char *const good_values[] = { "0", "-1", "1.5", "1e9", "2.5E-3", "null", "true", "false", "\"\"",
	"\"a\\n\\u00ff\\\"\"", "[]", "{}", "[1, 2,[3]]", "{\"a\":1,\"b\":[\"c\"]}", " 7 ",
	"{\"used\":[\"8f0de68c04eea0bf\"]}" };
static const char *const bad_values[] = { "", " ", "01", "-", "1.", "1e", ".5", "nan", "Infinity", "\"", "\"a",
	"\"\n\"", "\"\\x\"", "\"\\u12g4\"", "[1,]", "[1", "1]", "{\"a\"}", "{a:1}", "{\"a\":1,}", "1 2", "tru",
	"\"\xff\"", "\"\x7f\"" };

static void values_are_accepted(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good_values) / sizeof(*good_values); i++)
		if (!jsonscan_is_value(good_values[i], strlen(good_values[i])))
			fail_msg("'%s' is JSON", good_values[i]);
}

static void other_texts_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad_values) / sizeof(*bad_values); i++)
		if (jsonscan_is_value(bad_values[i], strlen(bad_values[i])))
			fail_msg("'%s' is not JSON", bad_values[i]);
	assert_false(jsonscan_is_value("12\0", 3));
	assert_true(jsonscan_is_value("123", 2));
}

/* An object of the deepest nesting, and the value in it, are accepted; one level more is not. */
static void depth_is_bounded(void **state)
{
	char text[2 * JSONSCAN_DEPTH_MAX + 16];

	(void)state;
	for (size_t depth = JSONSCAN_DEPTH_MAX - 1; depth < JSONSCAN_DEPTH_MAX + 2; depth++) {
		bool is_fine = depth <= JSONSCAN_DEPTH_MAX;

		memcpy(text, "{\"a\":", 5);
		memset(text + 5, '[', depth - 1);
		memset(text + 4 + depth, ']', depth - 1);
		text[3 + 2 * depth] = '}';
		assert_int_equal(jsonscan_is_object(text, 4 + 2 * depth), is_fine);
		assert_int_equal(jsonscan_is_value(text + 5, 2 * (depth - 1)), is_fine);
	}
}

/* What it accepts, jansson accepts. */
static void never_accepts_what_jansson_refuses(void **state)
{
	static const char alphabet[] = "{}[]\",:0123456789.eE+-truefalsn\\u \xc3\xa9";
	size_t accepted = 0;

	(void)state;
	random_init();
	for (int round = 0; round < 200000; round++) {
		char text[64];
		const char *seed = good[random_below(sizeof(good) / sizeof(*good))];
		size_t n = strlen(seed);
		json_t *json;

		memcpy(text, seed, n + 1);
		for (size_t changes = random_below(3); changes > 0; changes--)
			text[random_below(n)] = alphabet[random_below(sizeof(alphabet) - 1)];
		if (!jsonscan_is_object(text, n))
			continue;
		accepted++;
		json = json_loadb(text, n, JSON_ALLOW_NUL, NULL);
		/* jansson knows no numbers beyond a double, nor halves of surrogate pairs */
		if (!json && !strstr(text, "\\u") && !strpbrk(text, "eE"))
			fail_msg("accepted: %.*s", (int)n, text);
		json_decref(json);
	}
	assert_true(accepted > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(knows_good_from_bad),
		cmocka_unit_test(every_part_of_a_good_one_is_bad),
		cmocka_unit_test(values_are_accepted),
		cmocka_unit_test(other_texts_are_refused),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(never_accepts_what_jansson_refuses),
	};

	return RUN_TESTS(tests);
}
