/*
 * Lines cut into fields, and the hashes of names.
 */
#include "support.h"

#include "pfw/line-parse.h"
#include "pfw/line-write.h"

#include <stdio.h>
#include <string.h>

static struct pfw_line line;

static enum pfw_line_kind scan(const char *text)
{
	return pfw_line_scan(&line, text, strlen(text));
}

static void what_is_around_records_is_passed_over(void **state)
{
	(void)state;
	assert_int_equal(scan(""), PFW_LINE_BLANK);
	assert_int_equal(scan(" \t\r"), PFW_LINE_BLANK);
	assert_int_equal(scan("["), PFW_LINE_BRACKET);
	assert_int_equal(scan("]"), PFW_LINE_BRACKET);
	assert_int_equal(scan("][ ,"), PFW_LINE_BRACKET);
	assert_int_equal(scan("  {\"id\":1}"), PFW_LINE_RECORD);
	assert_int_equal(scan("[{\"id\":1},"), PFW_LINE_RECORD);
	assert_int_equal(scan("{\"id\":1}]\r"), PFW_LINE_RECORD);
	assert_int_equal(scan("{}"), PFW_LINE_RECORD);
	assert_int_equal(line.count, 0);
}

static void fields_and_arguments_are_found(void **state)
{
	const struct pfw_field *f;
	int64_t v;

	(void)state;
	assert_int_equal(scan("{ \"id\" : \"7\" , \"name\":\"a\\\"b\",\"args\":{\"id\":-3,\"x\":[1,{\"y\":2}]},"
			      "\"ph\":1}"),
			PFW_LINE_RECORD);
	assert_int_equal(line.count, 5);
	assert_true(line.has_args);
	f = pfw_line_get(&line, PFW_KEY_id);
	assert_true(pfw_field_int(f, &v) && v == 7 && f->kind == JSONSCAN_STRING && !f->is_arg);
	f = pfw_line_arg(&line, PFW_KEY_id);
	assert_true(pfw_field_int(f, &v) && v == -3 && f->is_arg);
	f = pfw_line_get(&line, PFW_KEY_name);
	assert_memory_equal(f->from, "\"name\":\"a\\\"b\"", 13);
	assert_int_equal(f->to - f->from, 13);
	assert_int_equal(line.fields[3].kind, JSONSCAN_ARRAY);
	assert_null(pfw_line_get(&line, PFW_KEY_ts));
	assert_null(pfw_line_arg(&line, PFW_KEY_ph));
}

static void arguments_that_are_no_object_are_a_field(void **state)
{
	(void)state;
	assert_int_equal(scan("{\"args\":null,\"args\":{\"id\":1},\"args\":{\"id\":2}}"), PFW_LINE_RECORD);
	assert_int_equal(line.count, 3);
	assert_true(pfw_line_get(&line, PFW_KEY_args)->kind == JSONSCAN_WORD);
	assert_int_equal(line.fields[2].kind, JSONSCAN_OBJECT);
	assert_int_equal(pfw_object_scan(&line, "{\"args\":{\"id\":1}}", 17), PFW_LINE_RECORD);
	assert_int_equal(line.count, 1);
}

/* Every key in the list is found by its own number, and only by it. */
static void keys_have_their_numbers(void **state)
{
	static const char *const names[] = { "other",
#define NAME(name) #name,
		PFW_KEYS(NAME)
#undef NAME
	};
	char text[64];

	(void)state;
	for (int i = 1; i < PFW_KEY_COUNT; i++) {
		snprintf(text, sizeof(text), "{\"%s\":1,\"%sx\":1,\"x%s\":1}", names[i], names[i], names[i]);
		assert_int_equal(scan(text), PFW_LINE_RECORD);
		assert_int_equal(line.fields[0].id, i);
		assert_int_equal(line.fields[1].id, PFW_KEY_other);
		assert_int_equal(line.fields[2].id, PFW_KEY_other);
	}
}

static void every_beginning_of_a_record_is_invalid(void **state)
{
	static const char text[] =
			"{\"id\":8,\"name\":\"write\",\"cat\":\"POSIX\",\"ts\":1.5,\"args\":{\"a\":[true,{}],"
			"\"b\":\"\\u0041\"},\"x\":null}";
	char copy[sizeof(text)];

	(void)state;
	for (size_t n = 1; n < sizeof(text) - 1; n++) {
		memcpy(copy, text, n);
		assert_int_equal(pfw_line_scan(&line, copy, n), PFW_LINE_INVALID);
		assert_non_null(line.reason);
		assert_true(line.where <= n);
	}
	assert_int_equal(scan("{\"id\":1}{\"id\":2}"), PFW_LINE_INVALID);
	assert_int_equal(scan("{\"id\":1} x"), PFW_LINE_INVALID);
	assert_int_equal(scan("null"), PFW_LINE_INVALID);
	assert_int_equal(scan("{\"a\":01}"), PFW_LINE_INVALID);
	assert_int_equal(scan("{\"a\":\"b\"c\"}"), PFW_LINE_INVALID);
	assert_int_equal(line.where, 8);
}

static void hashes_are_those_of_the_tracer(void **state)
{
	uint8_t digest[16];
	static const uint8_t empty[16] = { 0xd4, 0x1d, 0x8c, 0xd9, 0x8f, 0x00, 0xb2, 0x04, 0xe9, 0x80, 0x09, 0x98, 0xec,
		0xf8, 0x42, 0x7e };
	static const uint8_t long_text[16] = { 0x57, 0xed, 0xf4, 0xa2, 0x2b, 0xe3, 0xc9, 0x55, 0xac, 0x49, 0xda, 0x2e,
		0x21, 0x07, 0xb6, 0x7a };
	static const char digits[] = "1234567890123456789012345678901234567890"
				     "1234567890123456789012345678901234567890";

	(void)state;
	pfw_md5("", 0, digest);
	assert_memory_equal(digest, empty, 16);
	pfw_md5(digits, 80, digest);
	assert_memory_equal(digest, long_text, 16);
	assert_true(pfw_hash_c("vm", 2) == 7386335834152862147u);
	assert_true(pfw_hash_d("vm", 2) == 0x6882804a826580cdu);
	assert_true(pfw_hash_c("corona171", 9) == 9509357668201227806u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_around_records_is_passed_over),
		cmocka_unit_test(fields_and_arguments_are_found),
		cmocka_unit_test(arguments_that_are_no_object_are_a_field),
		cmocka_unit_test(keys_have_their_numbers),
		cmocka_unit_test(every_beginning_of_a_record_is_invalid),
		cmocka_unit_test(hashes_are_those_of_the_tracer),
	};
	int rc = RUN_TESTS(tests);

	pfw_line_release(&line);
	return rc;
}
