/* json: what is written is what another reader (jansson) reads, for any bytes and numbers. */
#include "../support.h"

#include <jansson.h> /* before json.h, which says why */

#include "base/json.h"

#include <float.h>
#include <math.h>
#include <string.h>

static struct buf out = BUF_INIT;
static struct json j;

static int start(void **state)
{
	buf_reset(&out);
	json_init(&j, &out, false);
	return 0;
}

static int stop(void **state)
{
	buf_release(&out);
	return 0;
}

static json_t *read_back(void)
{
	json_error_t error;
	json_t *value = json_loadb(out.data, out.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);

	if (!value)
		print_error("%s: %s\n", error.text, out.data);
	assert_non_null(value);
	return value;
}

static void nesting_and_commas(void **state)
{
	json_object(&j);
	json_kint(&j, "a", -1);
	json_key(&j, "b");
	json_array(&j);
	json_uint(&j, 1);
	json_null(&j);
	json_object(&j);
	json_end(&j);
	json_array(&j);
	json_end(&j);
	json_end(&j);
	json_kstr(&j, "c", NULL);
	json_kbool(&j, "d", true);
	json_kreal(&j, "e", 0.5);
	json_kuint(&j, "f", 7);
	json_end(&j);
	assert_string_equal(out.data, "{\"a\":-1,\"b\":[1,null,{},[]],\"c\":null,\"d\":true,\"e\":0.5,\"f\":7}");
}

static void pretty(void **state)
{
	json_init(&j, &out, true);
	json_object(&j);
	json_kint(&j, "a", 1);
	json_key(&j, "b");
	json_array(&j);
	json_bool(&j, false);
	json_end(&j);
	json_key(&j, "c");
	json_object(&j);
	json_end(&j);
	json_end(&j);
	assert_string_equal(out.data, "{\n  \"a\": 1,\n  \"b\": [\n    false\n  ],\n  \"c\": {}\n}");
}

static void several_values_are_lines(void **state)
{
	json_int(&j, 1);
	json_array(&j);
	json_end(&j);
	json_str(&j, "x");
	assert_string_equal(out.data, "1\n[]\n\"x\"");
}

static void escapes(void **state)
{
	json_strn(&j, "\"\\\b\f\n\r\t\0\x1f/\x7f", 11);
	assert_string_equal(out.data, "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f/\x7f\"");
}

static void keys_are_escaped(void **state)
{
	json_object(&j);
	json_kint(&j, "a\"\xff", 1);
	json_end(&j);
	assert_string_equal(out.data, "{\"a\\\"\xef\xbf\xbd\":1}");
}

#define BAD "\xef\xbf\xbd"

static void hostile_utf8(void **state)
{
	static const struct {
		const char *bytes, *want;
	} cases[] = {
		{ "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" },
		{ "\x80", BAD },                            /* a tail alone */
		{ "\xc3", BAD },                            /* ends early */
		{ "\xc3(", BAD "(" },                       /* broken off */
		{ "\xe2\x82", BAD BAD },                    /* ends early */
		{ "\xf0\x9f\x98", BAD BAD BAD },            /* ends early */
		{ "\xc0\xaf", BAD BAD },                    /* overlong '/' */
		{ "\xe0\x80\xaf", BAD BAD BAD },            /* overlong '/' */
		{ "\xf0\x80\x80\xaf", BAD BAD BAD BAD },    /* overlong '/' */
		{ "\xed\xa0\x80", BAD BAD BAD },            /* a surrogate */
		{ "\xed\x9f\xbf", "\xed\x9f\xbf" },         /* the last before the surrogates */
		{ "\xf4\x90\x80\x80", BAD BAD BAD BAD },    /* beyond U+10FFFF */
		{ "\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf" }, /* U+10FFFF */
		{ "\xf5\x80\x80\x80", BAD BAD BAD BAD },    /* no such lead */
		{ "\xfe\xff", BAD BAD },                    /* a UTF-16 mark */
		{ "g\xffh\xc3\xa9", "g" BAD "h\xc3\xa9" },  /* the good parts stay */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		json_t *value;

		start(NULL);
		json_str(&j, cases[i].bytes);
		value = read_back();
		assert_string_equal(json_string_value(value), cases[i].want);
		json_decref(value);
	}
}

static void integers_at_their_limits(void **state)
{
	json_array(&j);
	json_int(&j, INT64_MIN);
	json_int(&j, INT64_MAX);
	json_int(&j, 0);
	json_uint(&j, UINT64_MAX);
	json_end(&j);
	assert_string_equal(out.data, "[-9223372036854775808,9223372036854775807,0,18446744073709551615]");
}

static void reals_are_short(void **state)
{
	static const struct {
		double v;
		const char *want;
	} cases[] = {
		{ 0.1, "0.1" },
		{ 1, "1" },
		{ -0.0, "-0" },
		{ 1e300, "1e+300" },
		{ 0.1 + 0.2, "0.30000000000000004" },
		{ NAN, "null" },
		{ INFINITY, "null" },
		{ -INFINITY, "null" },
		{ 123456789.125, "123456789.125" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		start(NULL);
		json_real(&j, cases[i].v);
		assert_string_equal(out.data, cases[i].want);
	}
}

static void check_real(double v)
{
	double back;
	json_t *value;

	start(NULL);
	json_real(&j, v);
	value = read_back();
	back = json_number_value(value);
	json_decref(value);
	assert_true(back == v && signbit(back) == signbit(v));
}

static void random_reals_round_trip(void **state)
{
	random_init();
	check_real(DBL_MAX);
	check_real(DBL_MIN);
	check_real(DBL_TRUE_MIN);
	for (int i = 0; i < 20000; i++) {
		uint64_t bits = random_u64();
		double v;

		memcpy(&v, &bits, sizeof(v));
		if (isfinite(v) && v != 0)
			check_real(v);
	}
}

/* The text as another decoder sees it: valid characters kept, each other byte U+FFFD. */
static void random_bytes_stay_valid(void **state)
{
	random_init();
	for (int i = 0; i < 20000; i++) {
		char bytes[24];
		size_t n = random_below(sizeof(bytes));
		json_t *value, *same;

		random_bytes(bytes, n);
		for (size_t k = 0; k < n; k++) /* mostly leads and tails: pure noise seldom makes a character */
			if (random_below(2))
				bytes[k] = (char)(0x80 | (bytes[k] & (random_below(3) ? 0x3f : 0x7f)));
		start(NULL);
		json_strn(&j, bytes, n);
		value = read_back();
		same = json_stringn(bytes, n);           /* NULL when jansson does not take the bytes for UTF-8 */
		if (!memmem(bytes, n, BAD, strlen(BAD))) /* which may well be there itself */
			assert_int_equal(same == NULL, strstr(out.data, BAD) != NULL);
		if (same)
			assert_true(json_equal(value, same));
		json_decref(same);
		json_decref(value);
	}
}

/* Write a random tree; count its values so that the reader can be asked for as many. */
static size_t write_tree(unsigned depth, bool is_in_object)
{
	size_t values = 1;

	if (is_in_object)
		json_key(&j, random_below(2) ? "k" : "\x01\xff");
	if (depth == 0 || random_below(3) == 0) {
		json_int(&j, (int64_t)random_u64());
		return values;
	}
	if (random_below(2)) {
		json_array(&j);
		for (size_t n = random_below(4); n > 0; n--)
			values += write_tree(depth - 1, false);
	} else {
		json_object(&j);
		values += random_below(2) ? write_tree(depth - 1, true) : 0;
	}
	json_end(&j);
	return values;
}

static size_t count_tree(json_t *value)
{
	size_t values = 1, i;
	const char *key;
	json_t *item;

	json_array_foreach(value, i, item)
		values += count_tree(item);
	json_object_foreach(value, key, item)
		values += count_tree(item);
	return values;
}

static void random_trees_are_read_back(void **state)
{
	random_init();
	for (int i = 0; i < 3000; i++) {
		size_t values;
		json_t *value;

		start(NULL);
		j.is_pretty = random_below(2);
		values = write_tree(6, false);
		value = read_back();
		assert_int_equal(count_tree(value), values);
		json_decref(value);
	}
}

static void deepest_nesting(void **state)
{
	for (int i = 1; i < JSON_DEPTH_MAX; i++)
		json_array(&j);
	for (int i = 1; i < JSON_DEPTH_MAX; i++)
		json_end(&j);
	json_decref(read_back());
}

static void raw_is_a_value(void **state)
{
	json_array(&j);
	json_raw(&j, "{\"a\":1}", 7);
	json_raw(&j, "2", 1);
	json_end(&j);
	assert_string_equal(out.data, "[{\"a\":1},2]");
}

static void value_without_key(void)
{
	json_object(&j);
	json_int(&j, 1);
}

static void key_in_array(void)
{
	json_array(&j);
	json_key(&j, "a");
}

static void two_keys(void)
{
	json_object(&j);
	json_key(&j, "a");
	json_key(&j, "b");
}

static void end_after_key(void)
{
	json_object(&j);
	json_key(&j, "a");
	json_end(&j);
}

static void end_of_nothing(void)
{
	json_end(&j);
}

static void too_deep(void)
{
	for (int i = 0; i < JSON_DEPTH_MAX; i++)
		json_array(&j);
}

static void misuse_is_an_assertion(void **state)
{
	typedef void misuse(void);
	misuse *const bodies[] = { value_without_key, key_in_array, two_keys, end_after_key, end_of_nothing, too_deep };

	for (size_t i = 0; i < sizeof(bodies) / sizeof(*bodies); i++)
		assert_true(aborts(bodies[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nesting_and_commas, start),
		cmocka_unit_test_setup(pretty, start),
		cmocka_unit_test_setup(several_values_are_lines, start),
		cmocka_unit_test_setup(escapes, start),
		cmocka_unit_test_setup(keys_are_escaped, start),
		cmocka_unit_test_setup(hostile_utf8, start),
		cmocka_unit_test_setup(integers_at_their_limits, start),
		cmocka_unit_test_setup(reals_are_short, start),
		cmocka_unit_test_setup(random_reals_round_trip, start),
		cmocka_unit_test_setup(random_bytes_stay_valid, start),
		cmocka_unit_test_setup(random_trees_are_read_back, start),
		cmocka_unit_test_setup(deepest_nesting, start),
		cmocka_unit_test_setup(raw_is_a_value, start),
		cmocka_unit_test_setup(misuse_is_an_assertion, start),
	};

	return cmocka_run_group_tests(tests, NULL, stop);
}
