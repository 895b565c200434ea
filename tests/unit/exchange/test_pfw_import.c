/*
 * What is wrong with a trace costs only itself, and is told; many traces are one run.
 */
#include "traces.h"

#include "pfw/gzip-read.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void invalid_lines_are_counted_and_shown_with_their_place(void **state)
{
	struct buf text = BUF_INIT;
	struct traces t;

	(void)state;
	traces_make(&t);
	for (int i = 0; i < 20000; i++) {
		if (i == 4 || i == 17000)
			buf_adds(&text, "{\"id\":1,\"name\":\"a\"b\"}\n");
		else if (i == 17001)
			buf_adds(&text, "\n");
		else
			buf_addf(&text,
					"{\"id\":%d,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":1,"
					"\"ts\":%d,\"dur\":1,\"ph\":\"X\"}\n",
					i, i);
	}
	buf_adds(&text, "{\"id\":1,\"na");
	traces_write("a.pfw", text.data, text.len);
	assert_int_equal(traces_import(&t, "a.pfw"), 0);
	assert_int_equal(t.result.counts.invalid, 3);
	assert_int_equal(t.result.counts.events, 19997);
	assert_int_equal(t.result.problem_count, 3);
	assert_string_equal(t.result.problems[0].path, "a.pfw");
	assert_int_equal(t.result.problems[0].line, 5);
	assert_int_equal(t.result.problems[1].line, 17001);
	assert_int_equal(t.result.problems[2].line, 20001);
	assert_non_null(strstr(t.result.problems[0].text, "expected ',' or '}'"));
	assert_non_null(strstr(t.result.problems[0].text, "{\"id\":1,\"name\":\"a\"b\"}"));
	buf_release(&text);
	traces_remove(&t);
}

static void rows_of(struct traces *t, const char *path, struct rows *rows)
{
	assert_int_equal(traces_import(t, path), 0);
	rows_read(rows, t->run, NULL);
}

/* Members that end in the middle of lines, some of them in none: the same rows as from the text. */
static void lines_may_cross_members(void **state)
{
	struct buf text = BUF_INIT, packed = BUF_INIT;
	struct rows whole, sewn;
	struct traces t;

	(void)state;
	random_init();
	traces_make(&t);
	for (int i = 0; i < 3000; i++)
		buf_addf(&text,
				"{\"id\":%d,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":1,\"ts\":%d,"
				"\"dur\":1,\"ph\":\"X\","
				"\"args\":{\"noise\":\"%016llx%016llx%016llx\"}}\n",
				i, i, (unsigned long long)random_u64(), (unsigned long long)random_u64(),
				(unsigned long long)random_u64());
	buf_adds(&text, "not a record\n");
	traces_write("a.pfw", text.data, text.len);
	rows_of(&t, "a.pfw", &whole);
	assert_int_equal(t.result.problems[0].line, 3001);
	for (int round = 0; round < 6; round++) {
		size_t most = round < 3 ? 40 : 60000;

		buf_reset(&packed);
		for (size_t at = 0, n; at < text.len; at += n) {
			n = 1 + random_below(most);
			n = n > text.len - at ? text.len - at : n;
			pfw_gzip_deflate(&packed, text.data + at, n);
		}
		traces_write("a.pfw.gz", packed.data, packed.len);
		t.options.threads = 1 + (unsigned)round % 3;
		rows_of(&t, "a.pfw.gz", &sewn);
		assert_int_equal(t.result.counts.invalid, 1);
		assert_int_equal(t.result.problem_count, 1);
		assert_int_equal(t.result.problems[0].line, 3001);
		rows_same(&whole, &sewn);
		rows_release(&sewn);
	}
	rows_release(&whole);
	buf_release(&text);
	buf_release(&packed);
	traces_remove(&t);
}

/* A member that holds, stored, what looks like another: cutting there was wrong, and all is read again. */
static void what_looks_like_a_member_is_none(void **state)
{
	struct buf inner = BUF_INIT, text = BUF_INIT, packed = BUF_INIT;
	struct traces t;

	(void)state;
	random_init();
	traces_make(&t);
	for (int i = 0; i < 3000; i++)
		buf_addf(&text,
				"{\"id\":%d,\"name\":\"%016llx%016llx%016llx\",\"pid\":1,\"tid\":1,\"ts\":%d,"
				"\"dur\":1,\"ph\":\"X\"}\n",
				i, (unsigned long long)random_u64(), (unsigned long long)random_u64(),
				(unsigned long long)random_u64(), i);
	pfw_gzip_deflate(&inner, text.data, text.len);
	/* 2 MiB of stored blocks, by hand: noise, a whole gzip file inside, a newline. */
	buf_add(&packed, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
	for (int i = 0; i < 40; i++) {
		unsigned char head[5] = { i == 39, 0xff, 0xff, 0, 0 };
		char *block = malloc(65535);

		random_bytes(block, 65535);
		for (size_t k = 0; k < 65535; k++)
			block[k] = block[k] == '\n' || block[k] == '\x1f' ? 'x' : block[k];
		if (i == 10)
			memcpy(block + 100, inner.data, inner.len < 65000 ? inner.len : 65000);
		buf_add(&packed, head, 5);
		buf_add(&packed, block, 65535);
		free(block);
	}
	buf_add(&packed, "12345678", 8);
	traces_write("a.pfw.gz", packed.data, packed.len);
	/* No record can be found: the checksum is wrong too, and there is no line. */
	assert_int_equal(traces_import(&t, "a.pfw.gz"), -ENODATA);
	assert_int_equal(access(t.run, F_OK), -1);
	buf_release(&inner);
	buf_release(&text);
	buf_release(&packed);
	traces_remove(&t);
}

static void a_damaged_member_costs_only_itself(void **state)
{
	struct buf text = BUF_INIT, packed = BUF_INIT;
	size_t starts[6];
	struct traces t;

	(void)state;
	random_init();
	traces_make(&t);
	for (int m = 0; m < 6; m++) {
		buf_reset(&text);
		for (int i = 0; i < 6000; i++)
			buf_addf(&text,
					"{\"id\":%d,\"name\":\"%016llx%016llx%016llx\",\"pid\":1,\"tid\":1,\"ts\":%d,"
					"\"dur\":1,\"ph\":\"X\"}\n",
					i, (unsigned long long)random_u64(), (unsigned long long)random_u64(),
					(unsigned long long)random_u64(), i);
		starts[m] = packed.len;
		pfw_gzip_deflate(&packed, text.data, text.len);
	}
	memset(packed.data + starts[3] + 30000, 0, 2000);
	traces_write("a.pfw.gz", packed.data, packed.len - 100);
	t.options.threads = 2;
	assert_int_equal(traces_import(&t, "a.pfw.gz"), 0);
	assert_true(t.result.counts.events > 4 * 6000 && t.result.counts.events < 6 * 6000);
	assert_int_equal(t.result.bad_files, 1);
	assert_int_equal(t.result.problems[0].line, 0);
	assert_non_null(strstr(t.result.problems[0].text, "damaged"));
	buf_release(&text);
	buf_release(&packed);
	traces_remove(&t);
}

static const char event[] =
		"{\"id\":1,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":1,\"ph\":\"X\"}\n";

static void empty_and_missing_files_are_explained(void **state)
{
	struct traces t;

	(void)state;
	traces_make(&t);
	assert_int_equal(mkdir("d", 0700), 0);
	assert_int_equal(traces_import(&t, "nothing.pfw"), -ENOENT);
	assert_non_null(strstr(t.err.text, "nothing.pfw"));
	assert_int_equal(traces_import(&t, "d"), -ENOENT);
	traces_write("d/a.pfw", "", 0);
	traces_write("d/b.txt", event, strlen(event));
	assert_int_equal(traces_import(&t, "d"), -ENODATA);
	assert_int_equal(access(t.run, F_OK), -1);
	traces_write("d/b.pfw", event, strlen(event));
	traces_write("d/c.pfw.gz", "", 0);
	traces_write("d/d.pfw", "[\n]", 3);
	assert_int_equal(traces_import(&t, "d"), 0);
	assert_int_equal(t.result.files, 4);
	assert_int_equal(t.result.bad_files, 2);
	assert_int_equal(t.result.counts.events, 1);
	assert_string_equal(t.result.problems[0].text, "empty file");
	traces_remove(&t);
}

static void many_files_at_once_are_one_run(void **state)
{
	struct traces t;
	char path[32], text[256];

	(void)state;
	traces_make(&t);
	assert_int_equal(mkdir("d", 0700), 0);
	assert_int_equal(mkdir("d/e", 0700), 0);
	for (int i = 0; i < 300; i++) {
		snprintf(path, sizeof(path), i % 2 ? "d/t%d.pfw" : "d/e/t%d.pfw.gz", i);
		snprintf(text, sizeof(text),
				"[\n{\"id\":1,\"name\":\"read\",\"cat\":\"POSIX\",\"pid\":%d,\"tid\":1,\"ts\":%d,"
				"\"dur\":1,\"ph\":\"X\"}\n]",
				i % 50, i);
		if (i % 2)
			traces_write(path, text, strlen(text));
		else
			traces_gzip(path, (const char *const[]){ text, NULL });
	}
	t.options.threads = 4;
	assert_int_equal(traces_import(&t, "d"), 0);
	assert_int_equal(t.result.files, 300);
	assert_int_equal(t.result.counts.events, 300);
	assert_int_equal(t.result.processes, 50);
	assert_int_equal(t.result.first_ns, 0);
	assert_int_equal(t.result.last_ns, 300000);
	traces_remove(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(invalid_lines_are_counted_and_shown_with_their_place),
		cmocka_unit_test(lines_may_cross_members),
		cmocka_unit_test(what_looks_like_a_member_is_none),
		cmocka_unit_test(a_damaged_member_costs_only_itself),
		cmocka_unit_test(empty_and_missing_files_are_explained),
		cmocka_unit_test(many_files_at_once_are_one_run),
	};

	return RUN_TESTS(tests);
}
