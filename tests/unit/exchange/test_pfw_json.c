/*
 * JSON as traces have it: scanned, decoded, encoded; jansson is the judge of what is JSON.
 */
#include "support.h"

#include "pfw/line-parse.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every text in a buffer of its own size, so that reading beyond it is seen. */
static const char *scan_value(const char *text, size_t n, enum jsonscan_kind *kind, unsigned *flags, char **copy)
{
	*copy = malloc(n ? n : 1);
	memcpy(*copy, text, n);
	*flags = 0;
	return jsonscan_value(*copy, *copy + n, 0, kind, flags);
}

static bool is_value(const char *text, enum jsonscan_kind wanted)
{
	enum jsonscan_kind kind = 0;
	unsigned flags;
	char *copy;
	const char *to = scan_value(text, strlen(text), &kind, &flags, &copy);
	bool is_whole = to == copy + strlen(text) && kind == wanted;

	free(copy);
	return is_whole;
}

static void values_are_scanned(void **state)
{
	(void)state;
	assert_true(is_value("\"\"", JSONSCAN_STRING));
	assert_true(is_value("\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u12aF\"", JSONSCAN_STRING));
	assert_true(is_value("0", JSONSCAN_INTEGER));
	assert_true(is_value("-17", JSONSCAN_INTEGER));
	assert_true(is_value("1.5e-3", JSONSCAN_REAL));
	assert_true(is_value("2E+7", JSONSCAN_REAL));
	assert_true(is_value("true", JSONSCAN_WORD));
	assert_true(is_value("null", JSONSCAN_WORD));
	assert_true(is_value("{}", JSONSCAN_OBJECT));
	assert_true(is_value("{\"a\":[1,{\"b\":[]},\"c\"] , \"d\" : null}", JSONSCAN_OBJECT));
	assert_true(is_value("[[],[[]],{}]", JSONSCAN_ARRAY));
}

static void what_is_no_value_is_refused(void **state)
{
	static const char *const texts[] = { "", "\"", "\"\\", "\"\\x\"", "\"\\u12g4\"", "\"\\u12", "-", ".5", "1.",
		"1e", "1e+", "tru", "nul", "{", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"a\":1,}", "{a:1}", "{\"a\" 1}",
		"[", "[1", "[1,", "[1,]", "[1 2]", "[}", "{]", "}" };
	enum jsonscan_kind kind;
	unsigned flags;
	char *copy;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		if (scan_value(texts[i], strlen(texts[i]), &kind, &flags, &copy))
			fail_msg("taken: %s", texts[i]);
		free(copy);
	}
	/* A number ends where it can: what follows is for others to judge. */
	assert_false(is_value("01", JSONSCAN_INTEGER));
}

static void nesting_has_a_limit(void **state)
{
	char text[2 * JSONSCAN_DEPTH_MAX + 8] = "";
	enum jsonscan_kind kind;
	unsigned flags = 0;

	(void)state;
	memset(text, '[', JSONSCAN_DEPTH_MAX);
	memset(text + JSONSCAN_DEPTH_MAX, ']', JSONSCAN_DEPTH_MAX);
	assert_ptr_equal(jsonscan_value(text, text + 2 * JSONSCAN_DEPTH_MAX, 0, &kind, &flags),
			text + 2 * JSONSCAN_DEPTH_MAX);
	memset(text, '[', JSONSCAN_DEPTH_MAX + 1);
	memset(text + JSONSCAN_DEPTH_MAX + 1, ']', JSONSCAN_DEPTH_MAX + 1);
	assert_null(jsonscan_value(text, text + 2 * JSONSCAN_DEPTH_MAX + 2, 0, &kind, &flags));
}

/* Random texts of JSON's characters: both judges agree, as long as jansson has no reason of its own. */
static void random_texts_are_judged_as_jansson_does(void **state)
{
	static const char alphabet[] = "{}[]\":,\\0123456789.eE+-truefalsn ab";
	char text[24];

	(void)state;
	random_init();
	for (int round = 0; round < 200000; round++) {
		size_t n = 1 + random_below(sizeof(text) - 1);
		enum jsonscan_kind kind = 0;
		unsigned flags;
		char *copy;
		const char *to;
		json_t *json;

		for (size_t i = 0; i < n; i++)
			text[i] = alphabet[random_below(sizeof(alphabet) - 1)];
		json = json_loadb(text, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
		to = scan_value(text, n, &kind, &flags, &copy);
		while (to && to < copy + n && *to == ' ')
			to++;
		/* Blanks before a value are the caller's. jansson refuses numbers that no double holds. */
		if (json && text[0] != ' ' && to != copy + n)
			fail_msg("refused: %.*s", (int)n, text);
		if (!json && to == copy + n && kind != JSONSCAN_REAL && kind != JSONSCAN_INTEGER &&
				!memchr(text, 'e', n) && !memchr(text, 'E', n))
			fail_msg("taken: %.*s", (int)n, text);
		json_decref(json);
		free(copy);
	}
}

static bool int_is(const char *text, int64_t wanted)
{
	int64_t v;

	return pfw_parse_int(text, strlen(text), &v) && v == wanted;
}

static bool no_int(const char *text)
{
	int64_t v;

	return !pfw_parse_int(text, strlen(text), &v);
}

static void integers_fit_or_are_refused(void **state)
{
	uint64_t u;

	(void)state;
	assert_true(int_is("0", 0) && int_is("-1", -1) && int_is("1744611914282431", 1744611914282431));
	assert_true(int_is("9223372036854775807", INT64_MAX) && int_is("-9223372036854775807", -INT64_MAX));
	assert_true(no_int("9223372036854775808") && no_int("-9223372036854775808") && no_int("18446744073709551616"));
	assert_true(no_int("") && no_int("-") && no_int("-0") && no_int("01") && no_int("1x") && no_int("1.0"));
	assert_true(no_int("1234567/") && no_int("1234567:") && no_int("123456789012345/") && no_int(" 1"));
	assert_true(pfw_parse_uint("18446744073709551615", 20, &u) && u == UINT64_MAX);
	assert_false(pfw_parse_uint("18446744073709551616", 20, &u));
	assert_false(pfw_parse_uint("99999999999999999999", 20, &u));
	assert_true(pfw_parse_hex("6882804a826580cd", 16, &u) && u == 0x6882804a826580cd);
	assert_false(pfw_parse_hex("6882804A826580CD", 16, &u));
	assert_false(pfw_parse_hex("6882804a826580c", 15, &u));
}

static void integers_are_read_as_they_are_printed(void **state)
{
	char text[32];

	(void)state;
	random_init();
	for (int i = 0; i < 100000; i++) {
		int64_t v = (int64_t)(random_u64() >> random_below(64)) * (random_below(2) ? 1 : -1);

		if (v == INT64_MIN)
			continue;
		snprintf(text, sizeof(text), "%lld", (long long)v);
		assert_true(int_is(text, v));
	}
}

static void times_may_have_decimals(void **state)
{
	int64_t v;

	(void)state;
	assert_true(pfw_parse_scaled("1.5", 3, 1000, &v) && v == 1500);
	assert_true(pfw_parse_scaled("17.125", 6, 1000, &v) && v == 17125);
	assert_true(pfw_parse_scaled("3.000000", 8, 1000, &v) && v == 3000);
	assert_false(pfw_parse_scaled("1.2345", 6, 1000, &v));
	assert_false(pfw_parse_scaled("9223372036854775.808", 20, 1000, &v));
	assert_false(pfw_parse_scaled("1.", 2, 1000, &v));
	assert_false(pfw_parse_scaled("-1.5", 4, 1000, &v));
}

static void decode_is(const char *text, const char *wanted, size_t n)
{
	struct buf out = BUF_INIT;

	pfw_decode(&out, text, strlen(text));
	assert_int_equal(out.len, n);
	assert_memory_equal(out.data, wanted, n);
	buf_release(&out);
}

static void escapes_are_decoded(void **state)
{
	(void)state;
	decode_is("a\\n\\\"\\\\\\/\\u0041", "a\n\"\\/A", 6);
	decode_is("\\u00e9\\u20ac\\ud83d\\ude00", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9);
	decode_is("\\ud83d!", "\xef\xbf\xbd!", 4);
	decode_is("\\udcff\\udc80", "\xff\x80", 2);
	decode_is("\\u0000", "\0", 1);
}

static bool is_strict(const char *text, size_t n)
{
	unsigned flags = 0;
	enum jsonscan_kind kind;
	const char *to = jsonscan_value(text, text + n, 0, &kind, &flags);
	json_t *json;

	if (to != text + n)
		return false;
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < 0x20)
			return false;
	/* jansson wants no lone surrogates, which are ours for bytes that are no UTF-8. */
	if (memmem(text, n, "\\udc", 4))
		return true;
	json = json_loadb(text, n, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	json_decref(json);
	return json != NULL;
}

static void any_bytes_survive_encoding(void **state)
{
	char bytes[40];

	(void)state;
	random_init();
	for (int i = 0; i < 50000; i++) {
		struct buf text = BUF_INIT, back = BUF_INIT;
		size_t n = random_below(sizeof(bytes));

		random_bytes(bytes, n);
		for (size_t k = 0; k < n && i % 2; k++)
			bytes[k] &= 0x7f;
		pfw_encode(&text, bytes, n);
		assert_true(is_strict(text.data, text.len));
		pfw_decode(&back, text.data + 1, text.len - 2);
		assert_int_equal(back.len, n);
		assert_memory_equal(back.data, bytes, n);
		buf_release(&text);
		buf_release(&back);
	}
}

static void cleaning_makes_strict_and_keeps_what_is(void **state)
{
	struct buf out = BUF_INIT;
	static const char odd[] = "{\"a\x01\":\t\"b\xff\xc3\xa9\\n\"}";

	(void)state;
	pfw_clean(&out, odd, sizeof(odd) - 1);
	assert_string_equal(out.data, "{\"a\\u0001\":\"b\\udcff\xc3\xa9\\n\"}");
	assert_true(is_strict(out.data, out.len));
	buf_reset(&out);
	pfw_clean(&out, "{\"a\":[1, \"\\\"x\"]}", 16);
	assert_string_equal(out.data, "{\"a\":[1, \"\\\"x\"]}");
	buf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_scanned),
		cmocka_unit_test(what_is_no_value_is_refused),
		cmocka_unit_test(nesting_has_a_limit),
		cmocka_unit_test(random_texts_are_judged_as_jansson_does),
		cmocka_unit_test(integers_fit_or_are_refused),
		cmocka_unit_test(integers_are_read_as_they_are_printed),
		cmocka_unit_test(times_may_have_decimals),
		cmocka_unit_test(escapes_are_decoded),
		cmocka_unit_test(any_bytes_survive_encoding),
		cmocka_unit_test(cleaning_makes_strict_and_keeps_what_is),
	};

	return RUN_TESTS(tests);
}
