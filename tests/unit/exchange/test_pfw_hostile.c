/*
 * Input that was made to hurt: counted, explained, and in bounded memory.
 */
#include "traces.h"

#include "pfw/gzip-read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static uint64_t memory_bytes(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_maxrss << 10;
}

static const char event[] =
		"{\"id\":1,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":1,\"ph\":\"X\"}\n";

static void long_lines_are_read_or_passed_over(void **state)
{
	static const size_t sizes[] = { 200 << 10, 10 << 20, 100 << 20 };
	struct traces t;

	(void)state;
	traces_make(&t);
	for (size_t i = 0; i < 3; i++) {
		FILE *out = fopen("a.pfw", "w");
		struct rows got;

		fputs(event, out);
		fputs("{\"id\":2,\"name\":\"long\",\"pid\":1,\"tid\":1,\"ts\":7,\"dur\":1,\"ph\":\"X\","
		      "\"args\":{\"a\":\"",
				out);
		for (size_t k = 0; k < sizes[i]; k++)
			putc('a' + (int)(k % 26), out);
		fputs("\"}}\n", out);
		fputs(event, out);
		fclose(out);
		assert_int_equal(traces_import(&t, "a.pfw"), 0);
		assert_int_equal(t.result.counts.events, i < 2 ? 3 : 2);
		assert_int_equal(t.result.counts.too_long, i == 2);
		rows_read(&got, t.run, "span");
		assert_int_equal(got.count, i < 2);
		if (i < 2)
			assert_true(strlen(got.items[0]) > sizes[i]);
		else
			assert_int_equal(t.result.problems[0].line, 2);
		rows_release(&got);
	}
	assert_true(memory_bytes() < (uint64_t)1 << 30);
	traces_remove(&t);
}

/* A few hundred kilobytes that become more than a gigabyte: one line of spaces, blank lines, zeros. */
static void gzip_bombs_cost_time_and_no_memory(void **state)
{
	static const char fillings[] = { ' ', '\n', '\0' };
	static const int members[] = { 65, 8, 8 };
	size_t n = (size_t)16 << 20;
	char *block = malloc(n);
	struct traces t;

	(void)state;
	traces_make(&t);
	for (size_t i = 0; i < sizeof(fillings); i++) {
		struct buf packed = BUF_INIT;

		memset(block, fillings[i], n);
		pfw_gzip_deflate(&packed, event, strlen(event));
		for (int k = 0; k < members[i]; k++)
			pfw_gzip_deflate(&packed, block, n);
		pfw_gzip_deflate(&packed, "\n", 1);
		pfw_gzip_deflate(&packed, event, strlen(event));
		traces_write("bomb.pfw.gz", packed.data, packed.len);
		t.options.threads = 2;
		assert_int_equal(traces_import(&t, "bomb.pfw.gz"), 0);
		assert_int_equal(t.result.counts.events, 2);
		assert_int_equal(t.result.counts.too_long, fillings[i] != '\n');
		assert_true(t.result.text_bytes > (uint64_t)members[i] * n);
		buf_release(&packed);
	}
	assert_true(memory_bytes() < (uint64_t)1 << 30);
	free(block);
	traces_remove(&t);
}

/* An event whose argument, or name, is n times a byte; the line has its newline. */
static void add_long(struct buf *out, const char *category, bool is_name, char fill, size_t n)
{
	buf_addf(out, "{\"id\":2,\"pid\":1,\"tid\":1,\"ts\":7,\"dur\":1,\"ph\":\"X\",\"cat\":\"%s\",%s\"", category,
			is_name ? "\"name\":" : "\"name\":\"long\",\"args\":{\"a\":");
	assert_true(buf_reserve(out, n));
	memset(out->data + out->len, fill, n);
	out->len += n;
	buf_adds(out, is_name ? "\"}\n" : "\"}}\n");
}

/* Lines of 12 MiB, a gzip member each, for more threads than there is room for: one is in memory at a time. */
static void long_lines_in_many_members_take_turns(void **state)
{
	static const char *const categories[] = { "POSIX", "app", "STDIO" };
	struct buf text = BUF_INIT, packed = BUF_INIT;
	struct traces t;

	(void)state;
	traces_make(&t);
	for (int i = 0; i < 24; i++) {
		buf_reset(&text);
		add_long(&text, categories[i % 3], i % 4 == 0, 'a', (size_t)12 << 20);
		assert_int_equal(pfw_gzip_deflate(&packed, text.data, text.len), 0);
	}
	traces_write("a.pfw.gz", packed.data, packed.len);
	t.options.threads = IMPORT_THREADS_MAX;
	assert_int_equal(traces_import(&t, "a.pfw.gz"), 0);
	assert_int_equal(t.result.counts.events, 24);
	assert_int_equal(t.result.counts.too_long, 0);
	assert_int_equal(t.result.lost_rows, 0);
	assert_true(t.result.refused > 0); /* names so long are kept as text */
	assert_true(memory_bytes() < (uint64_t)1 << 30);
	buf_release(&text);
	buf_release(&packed);
	traces_remove(&t);
}

/* Lines of 30 KB that lie across members, put together while other parts are read: none is lost. */
static void long_seams_lose_nothing(void **state)
{
	struct buf text = BUF_INIT, packed = BUF_INIT;
	struct rows whole, sewn;
	struct traces t;

	(void)state;
	random_init();
	traces_make(&t);
	for (int i = 0; i < 400; i++) {
		buf_addf(&text,
				"{\"id\":%d,\"name\":\"n\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1,\"ph\":\"X\","
				"\"args\":{\"a\":\"",
				i, i);
		for (int k = 0; k < 1900; k++)
			buf_addf(&text, "%016llx", (unsigned long long)random_u64());
		buf_adds(&text, "\"}}\n");
	}
	for (size_t at = 0, n; at < text.len; at += n) {
		n = text.len - at < 400000 ? text.len - at : 400000;
		assert_int_equal(pfw_gzip_deflate(&packed, text.data + at, n), 0);
	}
	traces_write("a.pfw", text.data, text.len);
	assert_int_equal(traces_import(&t, "a.pfw"), 0);
	rows_read(&whole, t.run, NULL);
	traces_write("a.pfw.gz", packed.data, packed.len);
	t.options.threads = 4;
	assert_int_equal(traces_import(&t, "a.pfw.gz"), 0);
	assert_int_equal(t.result.counts.events, 400);
	rows_read(&sewn, t.run, NULL);
	rows_same(&whole, &sewn);
	rows_release(&whole);
	rows_release(&sewn);
	buf_release(&text);
	buf_release(&packed);
	traces_remove(&t);
}

/* 4 MiB of control characters are 24 MiB of JSON, which no row can hold; 100 000 fields are no record. */
static void what_no_row_can_hold_is_counted(void **state)
{
	struct buf text = BUF_INIT;
	struct traces t;

	(void)state;
	traces_make(&t);
	buf_adds(&text, event);
	add_long(&text, "app", false, '\1', (size_t)4 << 20);
	buf_adds(&text, "{\"name\":\"many\",\"ph\":\"X\",\"ts\":1");
	for (int i = 0; i < 100000; i++)
		buf_adds(&text, ",\"a\":1");
	buf_adds(&text, "}\n");
	buf_adds(&text, event);
	traces_write("a.pfw", text.data, text.len);
	assert_int_equal(traces_import(&t, "a.pfw"), 0);
	assert_int_equal(t.result.counts.events, 2);
	assert_int_equal(t.result.counts.too_long, 1);
	assert_int_equal(t.result.counts.invalid, 1);
	assert_int_equal(t.result.lost_rows, 0);
	assert_int_equal(t.result.problems[0].line, 2);
	assert_non_null(strstr(t.result.problems[0].text, "longer than 16 MiB after escaping"));
	assert_int_equal(t.result.problems[1].line, 3);
	assert_non_null(strstr(t.result.problems[1].text, "more than 65536 fields"));
	buf_release(&text);
	traces_remove(&t);
}

/* Ends of events must not overflow, whatever they begin with. */
static void the_largest_times_have_an_end(void **state)
{
	struct traces t;

	(void)state;
	traces_make(&t);
	t.options.unit = IMPORT_UNIT_NS;
	assert_int_equal(traces_import_text(&t,
					 "{\"name\":\"a\",\"ph\":\"X\",\"ts\":4611686018427387903,"
					 "\"dur\":4611686018427387903}\n"
					 "{\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"dur\":4611686018427387904}\n"
					 "{\"name\":\"a\",\"ph\":\"X\",\"ts\":4611686018427387904,\"dur\":1}\n"),
			0);
	assert_int_equal(t.result.counts.events, 2);
	assert_int_equal(t.result.counts.other, 1);
	assert_int_equal(t.result.counts.odd_durations, 1);
	assert_int_equal(t.result.last_ns, 9223372036854775806);
	traces_remove(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_lines_are_read_or_passed_over),
		cmocka_unit_test(gzip_bombs_cost_time_and_no_memory),
		cmocka_unit_test(long_lines_in_many_members_take_turns),
		cmocka_unit_test(long_seams_lose_nothing),
		cmocka_unit_test(what_no_row_can_hold_is_counted),
		cmocka_unit_test(the_largest_times_have_an_end),
	};

	return RUN_TESTS(tests);
}
