/*
 * Values by the million: what base/json writes, and valid whatever comes in.
 */
#include "support.h"

#include "exchange/jsonline.h"

#include <jansson.h>
#include <math.h>

#include "base/json.h"

static void is_line(struct jsonline *l, const char *want)
{
	assert_false(l->is_failed);
	assert_int_equal(l->len, strlen(want));
	assert_memory_equal(l->data, want, l->len);
	l->len = 0;
}

static void values(void **state)
{
	struct jsonline l = JSONLINE_INIT;
	struct store_text null = { .data = NULL }, object = { .data = "{\"a\":1}", .bytes = 7 },
			  bad = { .data = "{a}", .bytes = 3 };

	(void)state;
	jsonline_int(&l, 0);
	is_line(&l, "0");
	jsonline_int(&l, INT64_MAX);
	is_line(&l, "9223372036854775807");
	jsonline_int(&l, -1);
	is_line(&l, "-1");
	jsonline_int(&l, STORE_NULL);
	is_line(&l, "null");
	jsonline_real(&l, 0.1);
	is_line(&l, "0.1");
	jsonline_real(&l, NAN);
	is_line(&l, "null");
	jsonline_us(&l, 1234567);
	is_line(&l, "1234.567");
	jsonline_us(&l, 5);
	is_line(&l, "0.005");
	jsonline_us(&l, -1005);
	is_line(&l, "-1.005");
	jsonline_text(&l, NULL);
	is_line(&l, "null");
	jsonline_text(&l, &null);
	is_line(&l, "null");
	jsonline_str(&l, NULL);
	is_line(&l, "null");
	jsonline_str(&l, "");
	is_line(&l, "\"\"");
	jsonline_str(&l, "a \"quoted\"\n\x1b[31m");
	is_line(&l, "\"a \\\"quoted\\\"\\n\\u001b[31m\"");
	jsonline_str(&l, "caf\xc3\xa9 \xff");
	is_line(&l, "\"caf\xc3\xa9 \xef\xbf\xbd\"");
	jsonline_str(&l, "\x7f \xc2\x9b[31m \xc2\xa0 \xc2\x80");
	is_line(&l, "\"\\u007f \\u009b[31m \xc2\xa0 \\u0080\"");
	jsonline_object(&l, &object);
	is_line(&l, "{\"a\":1}");
	jsonline_object(&l, &bad);
	is_line(&l, "\"{a}\"");
	jsonline_object(&l, NULL);
	is_line(&l, "null");
	JSONLINE_ADD(&l, "as it is");
	is_line(&l, "as it is");
	jsonline_release(&l);
}

static void random_texts_are_valid_and_what_base_writes_them(void **state)
{
	struct jsonline l = JSONLINE_INIT;

	(void)state;
	random_init();
	for (int round = 0; round < 20000; round++) {
		char bytes[40];
		struct store_text text = { .data = bytes, .bytes = random_below(sizeof(bytes)) };
		struct buf want = BUF_INIT;
		struct json j;
		json_t *value, *same;

		random_bytes(bytes, sizeof(bytes));
		for (size_t i = 0; round % 2 && i < sizeof(bytes); i++)
			bytes[i] = (char)(bytes[i] & 0x7f);
		json_init(&j, &want, false);
		json_strn(&j, text.data, text.bytes);
		jsonline_text(&l, &text);
		value = json_loadb(l.data, l.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
		same = json_loadb(want.data, want.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
		assert_true(json_is_string(value));
		assert_true(json_equal(value, same));
		for (size_t i = 0; i < l.len; i++)
			assert_true((unsigned char)l.data[i] >= 0x20 && l.data[i] != 0x7f);
		json_decref(value);
		json_decref(same);
		buf_release(&want);
		l.len = 0;
	}
	jsonline_release(&l);
}

static void out_of_memory_is_remembered(void **state)
{
	struct jsonline l = JSONLINE_INIT;

	(void)state;
	alloc_fail_after(0);
	jsonline_str(&l, "text");
	alloc_fail_never();
	assert_true(l.is_failed);
	jsonline_release(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(random_texts_are_valid_and_what_base_writes_them),
		cmocka_unit_test(out_of_memory_is_remembered),
	};

	return RUN_TESTS(tests);
}
