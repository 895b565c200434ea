/*
 * Writers under pressure: a full disk, texts that are too long, no memory; and what rows cost.
 */
#include "tables.h"

#include "base/fs.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static uint64_t file_bytes(const struct scratch *s, const char *name)
{
	struct stat st;

	assert_int_equal(fstatat(s->dirfd, name, &st, 0), 0);
	return (uint64_t)st.st_size;
}

/* Writes beyond `bytes` fail (EFBIG), as those to a full disk do. RLIM_INFINITY: no longer. */
static void limit_files(rlim_t bytes)
{
	struct rlimit limit;

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_full_disk_is_reported_once_and_loses_only_what_follows(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct scratch s;
	struct store_writer *w;
	struct store_table *t;
	struct store_loss loss;
	uint64_t whole;

	(void)state;
	scratch_make(&s);
	assert_int_equal(store_writer_open(&w, s.dirfd, &every_schema, NULL), 0);
	every_add(w, 0, 100);
	assert_int_equal(store_writer_flush(w, NULL), 0);
	whole = store_writer_bytes(w);
	assert_int_equal(file_bytes(&s, "every.tbl"), whole);
	limit_files(whole + 300);
	every_add(w, 100, 50);
	assert_int_equal(store_writer_flush(w, &err), -EFBIG);
	assert_non_null(strstr(err.text, "every"));
	assert_string_not_equal(err.hint, "");
	assert_int_equal(file_bytes(&s, "every.tbl"), whole);
	assert_int_equal(store_writer_lost(w), 50);
	limit_files(RLIM_INFINITY);
	every_add(w, 150, 7);
	assert_int_equal(store_writer_flush(w, NULL), 0);
	assert_int_equal(store_writer_lost(w), 57);
	assert_int_equal(store_writer_rows(w), 100);
	assert_int_equal(store_writer_close(w, NULL), 0);
	assert_int_equal(store_table_open(&t, s.dirfd, "every", NULL), 0);
	assert_int_equal(every_read(t), 100);
	store_table_loss(t, &loss);
	assert_int_equal(loss.rows, 57);
	assert_false(loss.is_open);
	assert_non_null(strstr(loss.text, "57 rows"));
	store_table_free(t);
	scratch_remove(&s);
}

static void a_full_disk_at_close_leaves_a_readable_table(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct scratch s;
	struct store_writer *w;
	struct store_table *t;
	struct store_loss loss;

	(void)state;
	scratch_make(&s);
	assert_int_equal(store_writer_open(&w, s.dirfd, &every_schema, NULL), 0);
	every_add(w, 0, 100);
	assert_int_equal(store_writer_flush(w, NULL), 0);
	limit_files(store_writer_bytes(w) + 50);
	assert_int_equal(store_writer_close(w, &err), -EFBIG);
	limit_files(RLIM_INFINITY);
	assert_string_not_equal(err.text, "");
	assert_int_equal(store_table_open(&t, s.dirfd, "every", NULL), 0);
	assert_int_equal(every_read(t), 100);
	store_table_loss(t, &loss);
	assert_true(loss.is_open && loss.rows == 0 && loss.bytes == 0);
	store_table_free(t);
	scratch_remove(&s);
}

static void a_disk_full_from_the_start_leaves_no_file(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct scratch s;
	struct store_writer *w = NULL;
	struct stat st;

	(void)state;
	scratch_make(&s);
	limit_files(10);
	assert_int_equal(store_writer_open(&w, s.dirfd, &every_schema, &err), -EFBIG);
	limit_files(RLIM_INFINITY);
	assert_null(w);
	assert_int_equal(fstatat(s.dirfd, "every.tbl", &st, 0), -1);
	scratch_remove(&s);
}

static void a_table_that_is_there_is_never_overwritten(void **state)
{
	struct scratch s;
	struct store_writer *w = NULL;

	(void)state;
	scratch_make(&s);
	every_write(&s, 1, 10);
	assert_int_equal(store_writer_open(&w, s.dirfd, &every_schema, NULL), -EEXIST);
	assert_null(w);
	scratch_remove(&s);
}

static void texts_may_be_long_but_not_too_long(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct store_text text = { .bytes = STORE_TEXT_BYTES_MAX };
	struct store_string row = { .id = 1, .text = &text };
	struct store_batch batch = STORE_BATCH_INIT;
	struct scratch s;
	struct store_writer *w;
	struct store_table *t;
	char *bytes = malloc(STORE_TEXT_BYTES_MAX + 1);

	(void)state;
	memset(bytes, 'x', STORE_TEXT_BYTES_MAX + 1);
	text.data = bytes;
	scratch_make(&s);
	assert_int_equal(store_writer_open(&w, s.dirfd, &store_string_schema, NULL), 0);
	for (row.id = 1; row.id <= 5; row.id++) /* more than one block can hold */
		assert_int_equal(store_add_string(w, &row, NULL), 0);
	text.bytes++;
	assert_int_equal(store_add_string(w, &row, &err), -EMSGSIZE);
	assert_non_null(strstr(err.text, "16 MiB"));
	assert_int_equal(store_writer_lost(w), 1);
	text.bytes = 0;
	assert_int_equal(store_add_string(w, &row, NULL), 0);
	assert_int_equal(store_writer_close(w, NULL), 0);
	assert_int_equal(store_table_open(&t, s.dirfd, "string", NULL), 0);
	assert_int_equal(store_table_rows(t), 6);
	assert_int_equal(store_table_blocks(t), 3);
	assert_int_equal(store_block_load(t, 2, NULL, 0, &batch, NULL), 0);
	assert_int_equal(batch.columns[STORE_STRING_text].texts[0].bytes, STORE_TEXT_BYTES_MAX);
	assert_memory_equal(batch.columns[STORE_STRING_text].texts[0].data, bytes, STORE_TEXT_BYTES_MAX);
	assert_non_null(batch.columns[STORE_STRING_text].texts[1].data);
	assert_int_equal(batch.columns[STORE_STRING_text].texts[1].bytes, 0);
	free(bytes);
	store_batch_release(&batch);
	store_table_free(t);
	scratch_remove(&s);
}

/* Every allocation made to fail in turn: what was taken is readable, the rest is counted. */
static void no_memory_loses_rows_and_counts_them(void **state)
{
	(void)state;
	for (size_t good = 0;; good++) {
		struct scratch s;
		struct store_writer *w = NULL;
		uint64_t lost = 0;
		int rc;

		scratch_make(&s);
		alloc_fail_after(good);
		rc = store_writer_open(&w, s.dirfd, &every_schema, NULL);
		for (uint64_t i = 0; rc == 0 && i < 40; i++) {
			struct every_memory mem;
			struct every row;

			every_make(i, &row, &mem);
			store_writer_add(w, &row, NULL);
			if (i % 20 == 19)
				store_writer_flush(w, NULL);
		}
		if (rc == 0) {
			assert_int_equal(store_writer_rows(w) + store_writer_lost(w), 40);
			lost = store_writer_lost(w);
			store_writer_close(w, NULL);
		}
		alloc_fail_never();
		scratch_remove(&s);
		if (!alloc_has_failed()) {
			assert_int_equal(lost, 0);
			break;
		}
	}
}

static void reading_without_memory_fails_cleanly(void **state)
{
	struct scratch s;

	(void)state;
	scratch_make(&s);
	every_write(&s, 20, 30);
	for (size_t good = 0;; good++) {
		struct store_batch batch = STORE_BATCH_INIT;
		struct store_table *t = NULL;
		int rc;

		alloc_fail_after(good);
		rc = store_table_open(&t, s.dirfd, "every", NULL);
		if (rc == 0)
			rc = store_block_load(t, 3, NULL, 0, &batch, NULL);
		alloc_fail_never();
		assert_true(rc == 0 || rc == -ENOMEM);
		store_batch_release(&batch);
		store_table_free(t);
		if (!alloc_has_failed())
			break;
	}
	scratch_remove(&s);
}

/* A loop of 16-byte preads, with the noise that real calls have. */
static void a_row_of_a_read_loop_takes_at_most_four_bytes(void **state)
{
	struct store_io row = store_io_nulls;
	struct scratch s;
	struct store_writer *w;
	const size_t rows = 2 * STORE_BLOCK_ROWS;

	(void)state;
	random_init();
	scratch_make(&s);
	assert_int_equal(store_writer_open(&w, s.dirfd, &store_io_schema, NULL), 0);
	row.process = 1;
	row.pid = row.tid = 4711;
	row.call = 17;
	row.file = ((int64_t)1 << 32) + 3;
	row.fd = 3;
	row.size = row.ret = 16;
	row.errnum = row.flags = 0;
	row.ts_ns = 123456789012345;
	for (size_t i = 0; i < rows; i++) {
		row.offset = (int64_t)i * 16;
		row.dur_ns = 200 + (int64_t)random_below(400) + (random_below(500) ? 0 : (int64_t)random_below(50000));
		assert_int_equal(store_add_io(w, &row, NULL), 0);
		row.ts_ns += row.dur_ns + 30 + (int64_t)random_below(60);
	}
	assert_int_equal(store_writer_flush(w, NULL), 0);
	assert_true(store_writer_bytes(w) <= 4 * rows);
	assert_int_equal(store_writer_close(w, NULL), 0);
	scratch_remove(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_disk_is_reported_once_and_loses_only_what_follows),
		cmocka_unit_test(a_full_disk_at_close_leaves_a_readable_table),
		cmocka_unit_test(a_disk_full_from_the_start_leaves_no_file),
		cmocka_unit_test(a_table_that_is_there_is_never_overwritten),
		cmocka_unit_test(texts_may_be_long_but_not_too_long),
		cmocka_unit_test(no_memory_loses_rows_and_counts_them),
		cmocka_unit_test(reading_without_memory_fails_cleanly),
		cmocka_unit_test(a_row_of_a_read_loop_takes_at_most_four_bytes),
	};

	return RUN_TESTS(tests);
}
