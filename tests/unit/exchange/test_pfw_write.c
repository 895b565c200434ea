/*
 * A trace that was imported is written back whole: every record, with every
 * field, in its generation; and what is imported of that is the same run.
 */
#include "traces.h"

#include "pfw/line-parse.h"
#include "pfw/line-write.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Records of a trace as texts with sorted keys, in an order of their own. */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Numbers in quotes are numbers from then on: generation A had them by accident. */
static void unquote(json_t *object)
{
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(object, next, key, value)
	{
		const char *text = json_string_value(value);
		int64_t v;

		if (json_is_object(value))
			unquote(value);
		if (text && pfw_parse_int(text, strlen(text), &v) && strcmp(key, "step") != 0)
			json_object_set_new(object, key, json_integer(v));
	}
}

static void records_read(struct rows *rows, const char *text, bool is_unquoted)
{
	const char *newline;

	*rows = (struct rows){ .items = calloc(strlen(text) / 8 + 1, sizeof(char *)) };
	for (; *text; text = *newline ? newline + 1 : newline) {
		json_t *json;

		newline = strchrnul(text, '\n');
		json = json_loadb(text, (size_t)(newline - text), 0, NULL);
		if (!json_is_object(json)) {
			json_decref(json);
			continue;
		}
		if (is_unquoted)
			unquote(json);
		rows->items[rows->count++] = json_dumps(json, JSON_SORT_KEYS | JSON_COMPACT);
		json_decref(json);
	}
	qsort(rows->items, rows->count, sizeof(char *), by_text);
}

static void records_same(const char *a, const char *b, bool is_unquoted)
{
	struct rows left, right;

	records_read(&left, a, is_unquoted);
	records_read(&right, b, is_unquoted);
	rows_same(&left, &right);
	rows_release(&left);
	rows_release(&right);
}

/* Import, write, import again; `back` gets what was written. */
static void round_trip(struct traces *t, const char *text, size_t n, struct buf *back)
{
	struct rows first, second;

	traces_write("first.pfw", text, n);
	assert_int_equal(traces_import(t, "first.pfw"), 0);
	rows_read(&first, t->run, NULL);
	traces_export(t->run, "pfw", "second.pfw");
	traces_read("second.pfw", back);
	assert_int_equal(traces_import(t, "second.pfw"), 0);
	assert_int_equal(t->result.counts.invalid, 0);
	rows_read(&second, t->run, NULL);
	rows_same(&first, &second);
	rows_release(&first);
	rows_release(&second);
}

static void keeps_all(const char *text, bool is_unquoted)
{
	struct buf back = BUF_INIT;
	struct traces t;

	traces_make(&t);
	t.options.unit = IMPORT_UNIT_US;
	round_trip(&t, text, strlen(text), &back);
	records_same(text, back.data, is_unquoted);
	buf_release(&back);
	traces_remove(&t);
}

static void file_comes_back(const char *name, bool is_unquoted)
{
	struct buf text = BUF_INIT;

	traces_read_data(name, &text);
	keeps_all(text.data, is_unquoted);
	buf_release(&text);
}

static void real_traces_come_back(void **state)
{
	(void)state;
	file_comes_back("dlio-excerpt.pfw", false);
}

static void all_generations_come_back(void **state)
{
	(void)state;
	file_comes_back("generation-a.pfw", true);
	file_comes_back("generation-b.pfw", false);
	file_comes_back("generation-c.pfw", false);
	file_comes_back("generation-d.pfw", false);
	file_comes_back("generation-e.pfw", false);
}

static void odd_records_come_back(void **state)
{
	(void)state;
	file_comes_back("odd.pfw", false);
}

/* Bytes that are no UTF-8 survive, which jansson cannot see: the rows show it. */
static void broken_text_comes_back(void **state)
{
	static const char text[] =
			"{\"id\":1,\"name\":\"a\xff\x80\tb\",\"cat\":\"\xc3\",\"pid\":1,\"tid\":2,\"ts\":100,"
			"\"dur\":5,\"ph\":\"X\","
			"\"args\":{\"k\xfe\":\"v\x01\xfd\"}}\n";
	struct buf back = BUF_INIT;
	struct traces t;

	(void)state;
	traces_make(&t);
	round_trip(&t, text, sizeof(text) - 1, &back);
	for (size_t i = 0; i < back.len; i++)
		assert_true((unsigned char)back.data[i] >= 0x20 || back.data[i] == '\n');
	buf_release(&back);
	traces_remove(&t);
}

static const char *line_with(const char *text, const char *part)
{
	const char *hit = strstr(text, part);

	if (!hit)
		fail_msg("no '%s' in:\n%s", part, text);
	return hit;
}

/* Another generation than that of the import: the same hashes in other clothes, and rows that say the same. */
static void generations_are_converted(void **state)
{
	struct buf back = BUF_INIT;
	struct traces t;

	(void)state;
	traces_make(&t);
	traces_read_data("generation-d.pfw", &back);
	assert_int_equal(traces_import_text(&t, back.data), 0);
	traces_export(t.run, "pfw_c", "c.pfw");
	traces_read("c.pfw", &back);
	assert_memory_equal(back.data, "[\n", 2);
	line_with(back.data, "\"hhash\":7530722584420516045");
	line_with(back.data, "\"value\":8873660868746087057");
	line_with(back.data, "\"newpath_hash\":803210336498158225");
	assert_null(strstr(back.data, "6882804a826580cd"));
	traces_export(t.run, "pfw_e", "e.pfw");
	traces_read("e.pfw", &back);
	assert_true(back.data[0] == '{');
	line_with(back.data, "\"type\":3");
	line_with(back.data, "\"ph\":1");
	line_with(back.data, "\"ph\":4");
	assert_int_equal(traces_import(&t, "c.pfw"), 0);
	assert_int_equal(t.result.counts.events, 2);
	assert_int_equal(t.result.named_files, 1);
	assert_int_equal(traces_import(&t, "e.pfw"), 0);
	assert_int_equal(t.result.counts.events, 2);
	assert_int_equal(t.result.counts.counters, 1);
	buf_release(&back);
	traces_remove(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_traces_come_back),
		cmocka_unit_test(all_generations_come_back),
		cmocka_unit_test(odd_records_come_back),
		cmocka_unit_test(broken_text_comes_back),
		cmocka_unit_test(generations_are_converted),
	};

	return RUN_TESTS(tests);
}
