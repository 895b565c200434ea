/*
 * A trace that was imported is written back whole: every record, with every
 * field, in its generation; and what is imported of that is the same run.
 */
#include "traces.h"

#include "exchange/pfw-hash.h"
#include "exchange/pfw-line.h"

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

	json_object_foreach_safe(object, next, key, value) {
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

static void real_traces_come_back(void **state)
{
	const char *dir = getenv("SONDE_TEST_DATA");
	struct buf text = BUF_INIT;
	char path[4096];

	(void)state;
	snprintf(path, sizeof(path), "%s/dlio-excerpt.pfw", dir ? dir : "tests/data");
	traces_read(path, &text);
	keeps_all(text.data, false);
	buf_release(&text);
}

static void generation_a_comes_back(void **state)
{
	(void)state;
	keeps_all("[\n{\"id\":\"0\",\"name\":\"access\",\"cat\":\"POSIX\",\"pid\":\"2315\",\"tid\":\"4630\",\"ts\":\"1698975745976947\","
		  "\"dur\":\"2\",\"ph\":\"X\",\"args\":{\"hostname\":\"node-0\",\"fname\":\"testfile\"}}\n"
		  "{\"id\":\"2\",\"name\":\"lseek64\",\"cat\":\"POSIX\",\"pid\":\"2315\",\"tid\":\"4630\",\"ts\":\"1698975745977017\","
		  "\"dur\":\"1\",\"ph\":\"X\",\"args\":{\"hostname\":\"node-0\",\"ret\":\"0\",\"whence\":0,\"offset\":\"0\",\"fd\":15,"
		  "\"fname\":\"a b/\\u00e9\"}}\n]",
			true);
}

static void generation_b_comes_back(void **state)
{
	(void)state;
	keeps_all("[\n{\"id\":0,\"name\":\"HH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":14,\"ph\":\"M\",\"args\":{\"name\":\"node\",\"value\":39537}}\n"
		  "{\"id\":1,\"name\":\"FH\",\"cat\":\"dftracer\",\"pid\":7,\"tid\":14,\"ph\":\"M\",\"args\":{\"name\":\"/a\",\"value\":12}}\n"
		  "{\"id\":2,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":7,\"tid\":14,\"ts\":1727286231145121,\"dur\":5,\"ph\":\"X\",\"args\":{"
		  "\"hhash\":39537,\"fhash\":12,\"level\":1,\"p_idx\":-1}}\n]",
			false);
}

static const char generation_d[] =
		"[\n{\"id\":1,\"name\":\"HH\",\"cat\":\"dftracer\",\"pid\":7353,\"tid\":7353,\"ph\":\"M\",\"args\":{\"hhash\":"
		"\"6882804a826580cd\",\"name\":\"vm\",\"value\":\"6882804a826580cd\"}}\n"
		"{\"id\":2,\"name\":\"FH\",\"cat\":\"dftracer\",\"pid\":7353,\"tid\":7353,\"ph\":\"M\",\"args\":{\"hhash\":"
		"\"6882804a826580cd\",\"name\":\"/data/f\",\"value\":\"7b25938ba2e50a91\"}}\n"
		"{\"id\":9,\"name\":\"write\",\"cat\":\"POSIX\",\"pid\":7353,\"tid\":7353,\"ts\":1794771327421106,\"dur\":11,\"ph\":\"X\","
		"\"args\":{\"hhash\":\"6882804a826580cd\",\"level\":1,\"ret\":4096,\"p_idx\":-1,\"count\":4096,\"fhash\":"
		"\"7b25938ba2e50a91\"}}\n"
		"{\"id\":10,\"name\":\"rename\",\"cat\":\"POSIX\",\"pid\":7353,\"tid\":7353,\"ts\":1794771327421206,\"dur\":11,\"ph\":\"X\","
		"\"args\":{\"hhash\":\"6882804a826580cd\",\"fhash\":\"7b25938ba2e50a91\",\"newpath_hash\":\"0b25938ba2e50a91\"}}\n"
		"{\"name\":\"write\",\"cat\":\"POSIX\",\"ts\":1794771327000000,\"ph\":\"C\",\"pid\":7353,\"tid\":7353,\"args\":{\"hhash\":"
		"\"6882804a826580cd\",\"dur_min\":3,\"dur_sum\":4.5}}\n]";

static void generation_d_comes_back(void **state)
{
	(void)state;
	keeps_all(generation_d, false);
}

static void generation_e_comes_back(void **state)
{
	(void)state;
	keeps_all("{\"name\":\"PR\",\"cat\":\"dftracer\",\"type\":1,\"pid\":30,\"tid\":60,\"ph\":4,\"args\":{\"hhash\":\"8e0caa2d595b2a4d\","
		  "\"name\":\"core_affinity\",\"value\":[0,1,2]}}\n"
		  "{\"id\":8,\"name\":\"CUSTOM_BLOCK\",\"cat\":\"CPP_APP\",\"type\":9,\"pid\":30,\"tid\":60,\"ts\":1727286231145121,"
		  "\"dur\":1000054,\"ph\":1,\"args\":{\"hhash\":\"8e0caa2d595b2a4d\",\"key\":0}}\n"
		  "{\"id\":9,\"name\":\"read\",\"cat\":\"POSIX\",\"type\":3,\"pid\":30,\"tid\":60,\"ts\":1727286231145125,\"dur\":5,\"ph\":1,"
		  "\"args\":{\"hhash\":\"8e0caa2d595b2a4d\",\"fhash\":\"0000000000000011\",\"ret\":3}}\n"
		  "{\"name\":\"openat\",\"cat\":\"POSIX\",\"type\":3,\"ts\":1785087679000000,\"ph\":3,\"pid\":30,\"tid\":60,\"args\":{\"hhash\":"
		  "\"8e0caa2d595b2a4d\",\"dft_cnt\":2}}\n"
		  "{\"id\":10,\"name\":\"end\",\"cat\":\"dftracer\",\"type\":1,\"pid\":30,\"tid\":60,\"ts\":1785089433770414,\"dur\":0,\"ph\":1,"
		  "\"args\":{\"hhash\":\"8e0caa2d595b2a4d\",\"num_events\":9,\"args\":{\"cfg\":{\"a\":1}},\"cfg\":{}}}\n",
			false);
}

static void odd_records_come_back(void **state)
{
	(void)state;
	keeps_all("[\n{\"id\":1,\"name\":\"HH\",\"cat\":\"dftracer\",\"pid\":1,\"tid\":2,\"ph\":\"M\",\"args\":{\"hhash\":7386335834152862147,"
		  "\"name\":\"vm\",\"value\":7386335834152862147}}\n"
		  "{\"id\":2,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":2,\"ts\":100,\"dur\":5,\"ph\":\"X\"}\n"
		  "{\"id\":3,\"name\":\"read\",\"cat\":\"STDIO\",\"pid\":1,\"tid\":2,\"ts\":101,\"dur\":5,\"ph\":\"X\"}\n"
		  "{\"id\":4,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":2,\"ts\":102,\"dur\":-5,\"ph\":\"X\",\"args\":{\"hhash\":"
		  "7386335834152862147,\"offset\":9223372036854775807,\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6}}\n"
		  "{\"id\":5,\"name\":\"fread\",\"cat\":\"STDIO\",\"pid\":1,\"tid\":2,\"ts\":103,\"dur\":5,\"ph\":\"X\",\"args\":{\"hhash\":"
		  "7386335834152862147,\"size\":8,\"count\":3,\"ret\":3}}\n"
		  "{\"id\":6,\"name\":\"fread\",\"cat\":\"STDIO\",\"pid\":1,\"tid\":2,\"ts\":104,\"dur\":5,\"ph\":\"X\",\"args\":{\"hhash\":"
		  "7386335834152862147,\"count\":3,\"mode\":\"r\\u00e9\\n\",\"fhash\":5,\"fname\":\"x\",\"hostname\":\"y\"}}\n"
		  "{\"ph\":\"i\",\"name\":\"instant\",\"ts\":5,\"s\":\"t\"}\n{\"what\":[\"is\",\"this\"]}\n"
		  "{\"name\":\"no cat\",\"ph\":\"X\",\"ts\":7}\n{\"name\":3,\"ph\":\"X\",\"ts\":7}\n{\"ph\":[],\"name\":\"x\"}\n]",
			false);
}

/* Bytes that are no UTF-8 survive, which jansson cannot see: the rows show it. */
static void broken_text_comes_back(void **state)
{
	static const char text[] = "{\"id\":1,\"name\":\"a\xff\x80\tb\",\"cat\":\"\xc3\",\"pid\":1,\"tid\":2,\"ts\":100,\"dur\":5,\"ph\":\"X\","
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
	assert_int_equal(traces_import_text(&t, generation_d), 0);
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
		cmocka_unit_test(generation_a_comes_back),
		cmocka_unit_test(generation_b_comes_back),
		cmocka_unit_test(generation_d_comes_back),
		cmocka_unit_test(generation_e_comes_back),
		cmocka_unit_test(odd_records_come_back),
		cmocka_unit_test(broken_text_comes_back),
		cmocka_unit_test(generations_are_converted),
	};

	return RUN_TESTS(tests);
}
