/*
 * Strings get one id each and come back by it.
 */
#include "tables.h"

#include "store/strings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void equal_texts_have_one_id(void **state)
{
	struct store_strings strings;
	struct store_names names;
	struct scratch s;

	(void)state;
	scratch_make(&s);
	assert_int_equal(store_strings_open(&strings, s.dirfd, NULL), 0);
	assert_int_equal(store_strings_of(&strings, "read"), 1);
	assert_int_equal(store_strings_of(&strings, "write"), 2);
	assert_int_equal(store_strings_id(&strings, "readers", 4), 1);
	assert_int_equal(store_strings_of(&strings, ""), 3);
	assert_int_equal(store_strings_id(&strings, "a\0b", 3), 4);
	assert_true(store_strings_of(&strings, NULL) == STORE_NULL);
	assert_int_equal(store_strings_count(&strings), 4);
	assert_int_equal(store_strings_flush(&strings, NULL), 0);
	assert_int_equal(store_strings_of(&strings, "write"), 2);
	assert_int_equal(store_strings_of(&strings, "late"), 5);
	assert_int_equal(store_strings_close(&strings, NULL), 0);
	assert_int_equal(store_names_open(&names, s.dirfd, NULL), 0);
	assert_string_equal(store_names_get(&names, 1)->data, "read");
	assert_string_equal(store_names_get(&names, 2)->data, "write");
	assert_string_equal(store_names_get(&names, 3)->data, "");
	assert_int_equal(store_names_get(&names, 4)->bytes, 3);
	assert_memory_equal(store_names_get(&names, 4)->data, "a\0b", 4);
	assert_string_equal(store_names_get(&names, 5)->data, "late");
	assert_null(store_names_get(&names, 0));
	assert_null(store_names_get(&names, 6));
	assert_null(store_names_get(&names, -1));
	assert_null(store_names_get(&names, STORE_NULL));
	store_names_release(&names);
	scratch_remove(&s);
}

static void many_strings_come_back(void **state)
{
	struct store_strings strings;
	struct store_names names;
	struct scratch s;
	char text[32];

	(void)state;
	scratch_make(&s);
	assert_int_equal(store_strings_open(&strings, s.dirfd, NULL), 0);
	for (int i = 1; i <= 100000; i++) {
		snprintf(text, sizeof(text), "/data/file-%d", i);
		assert_int_equal(store_strings_of(&strings, text), i);
	}
	assert_int_equal(store_strings_close(&strings, NULL), 0);
	assert_int_equal(store_names_open(&names, s.dirfd, NULL), 0);
	for (int i = 1; i <= 100000; i++) {
		snprintf(text, sizeof(text), "/data/file-%d", i);
		assert_string_equal(store_names_get(&names, i)->data, text);
	}
	store_names_release(&names);
	scratch_remove(&s);
}

static void ids_out_of_proportion_are_ignored(void **state)
{
	struct store_text text = { .data = "x", .bytes = 1 };
	struct store_string rows[] = { { 2, &text }, { INT64_MAX, &text }, { -3, &text }, { STORE_NULL, &text },
		{ 3, NULL } };
	struct store_names names;
	struct store_writer *w;
	struct scratch s;

	(void)state;
	scratch_make(&s);
	assert_int_equal(store_writer_open(&w, s.dirfd, &store_string_schema, NULL), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(store_add_string(w, &rows[i], NULL), 0);
	assert_int_equal(store_writer_close(w, NULL), 0);
	assert_int_equal(store_names_open(&names, s.dirfd, NULL), 0);
	assert_non_null(store_names_get(&names, 2));
	assert_null(store_names_get(&names, 3));
	assert_null(store_names_get(&names, INT64_MAX));
	store_names_release(&names);
	scratch_remove(&s);
}

static void failures_speak_up_at_the_next_flush(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct store_strings strings;
	struct scratch s;
	static char huge[STORE_TEXT_BYTES_MAX + 1];

	(void)state;
	scratch_make(&s);
	assert_int_equal(store_strings_open(&strings, s.dirfd, NULL), 0);
	assert_int_equal(store_strings_id(&strings, huge, sizeof(huge)), 1);
	assert_int_equal(store_strings_of(&strings, "small"), 2);
	assert_int_equal(store_strings_flush(&strings, &err), -EMSGSIZE);
	assert_string_not_equal(err.text, "");
	assert_int_equal(store_strings_flush(&strings, NULL), 0);
	assert_int_equal(store_strings_close(&strings, NULL), 0);
	scratch_remove(&s);
}

static void a_missing_table_is_said(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct store_names names;
	struct scratch s;

	(void)state;
	scratch_make(&s);
	assert_int_equal(store_names_open(&names, s.dirfd, &err), -ENOENT);
	assert_non_null(strstr(err.text, "string.tbl"));
	store_names_release(&names);
	scratch_remove(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_texts_have_one_id),
		cmocka_unit_test(many_strings_come_back),
		cmocka_unit_test(ids_out_of_proportion_are_ignored),
		cmocka_unit_test(failures_speak_up_at_the_next_flush),
		cmocka_unit_test(a_missing_table_is_said),
	};

	return RUN_TESTS(tests);
}
