/*
 * Files cut at every byte, with every kind of flipped bit, or left by a killed
 * writer: what is intact comes back exactly, what is not is stated.
 */
#include "tables.h"

#include "base/fs.h"
#include "store/format.h"
#include "store/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BLOCKS 5
#define ROWS 12 /* a block */

/* A table in memory, and where its parts end. */
struct specimen {
	struct buf bytes;
	size_t head_end;
	size_t block_end[BLOCKS];
};

static void specimen_make(struct specimen *sp)
{
	struct scratch s;
	struct store_table *t;

	buf_init(&sp->bytes, 0);
	scratch_make(&s);
	every_write(&s, BLOCKS, ROWS);
	scratch_read(&s, "every.tbl", &sp->bytes);
	assert_int_equal(store_table_open(&t, s.dirfd, "every", NULL), 0);
	sp->head_end = store_block_info(t, 0)->offset;
	for (size_t i = 0; i < BLOCKS; i++)
		sp->block_end[i] = store_block_info(t, i)->offset + store_block_info(t, i)->bytes;
	store_table_free(t);
	scratch_remove(&s);
}

static size_t whole_blocks(const struct specimen *sp, size_t bytes)
{
	size_t n = 0;

	while (n < BLOCKS && sp->block_end[n] <= bytes)
		n++;
	return n;
}

/* An exact copy of n bytes: reading beyond them is seen by a sanitizer build. */
static void *copy_of(const void *bytes, size_t n)
{
	void *copy = malloc(n ? n : 1);

	assert_non_null(copy);
	memcpy(copy, bytes, n);
	return copy;
}

static void check_cut(const struct specimen *sp, size_t cut)
{
	void *bytes = copy_of(sp->bytes.data, cut);
	size_t blocks = whole_blocks(sp, cut), end = blocks ? sp->block_end[blocks - 1] : sp->head_end;
	struct store_table *t;
	struct store_loss loss;
	int rc = store_table_open_memory(&t, bytes, cut, "cut", NULL);

	assert_int_equal(rc, cut < sp->head_end ? -EBADMSG : 0);
	if (rc == 0) {
		assert_int_equal(store_table_blocks(t), blocks);
		assert_int_equal(every_read(t), blocks * ROWS);
		store_table_loss(t, &loss);
		assert_int_equal(loss.is_open, cut < sp->bytes.len);
		assert_int_equal(loss.bytes, cut < sp->bytes.len ? cut - end : 0);
		assert_int_equal(*loss.text == '\0', cut == sp->bytes.len);
		assert_true(loss.rows == 0 ||
				loss.rows == ROWS); /* a torn block whose head is there says what it had */
		store_table_free(t);
	}
	free(bytes);
}

static void a_file_cut_at_any_byte_keeps_its_whole_blocks(void **state)
{
	struct specimen sp;

	(void)state;
	specimen_make(&sp);
	for (size_t cut = 0; cut <= sp.bytes.len; cut++)
		check_cut(&sp, cut);
	buf_release(&sp.bytes);
}

/* Values are right (every_read sees to that), and what is missing is said. */
static bool check_flipped(const void *bytes, size_t n)
{
	struct store_table *t;
	struct store_loss loss;
	uint64_t rows;

	if (store_table_open_memory(&t, bytes, n, "flipped", NULL) < 0)
		return true;
	rows = every_read(t);
	store_table_loss(t, &loss);
	store_table_free(t);
	assert_int_equal(rows + loss.rows, BLOCKS * ROWS);
	assert_true(rows == BLOCKS * ROWS || (loss.blocks > 0 && loss.bytes > 0 && *loss.text));
	return loss.is_open || rows < BLOCKS * ROWS;
}

static void a_flipped_bit_never_gives_a_wrong_value(void **state)
{
	struct specimen sp;
	size_t unseen = 0;
	uint8_t *bytes;

	(void)state;
	random_init();
	specimen_make(&sp);
	bytes = copy_of(sp.bytes.data, sp.bytes.len);
	assert_false(check_flipped(bytes, sp.bytes.len));
	for (size_t i = 0; i < sp.bytes.len; i++) {
		uint8_t bit = (uint8_t)(1u << random_below(8));

		bytes[i] ^= bit;
		unseen += !check_flipped(bytes, sp.bytes.len);
		bytes[i] ^= bit;
	}
	assert_int_equal(unseen, 0); /* there is no byte that nobody checks */
	free(bytes);
	buf_release(&sp.bytes);
}

/* Without an index the last blocks may be gone without a trace: only the values are looked at. */
static void random_damage_never_gives_a_wrong_value(void **state)
{
	struct specimen sp;

	(void)state;
	random_init();
	specimen_make(&sp);
	for (int round = 0; round < 2000; round++) {
		uint8_t *bytes = copy_of(sp.bytes.data, sp.bytes.len);
		size_t at = random_below(sp.bytes.len), n = 1 + random_below(sp.bytes.len - at);
		struct store_table *t;

		if (round % 3 == 0)
			memset(bytes + at, 0, n);
		else if (round % 3 == 1)
			random_bytes(bytes + at, n);
		else
			memmove(bytes + at, bytes + random_below(at + 1), n / 2);
		if (store_table_open_memory(&t, bytes, sp.bytes.len, "damaged", NULL) == 0) {
			every_read(t);
			store_table_free(t);
		}
		free(bytes);
	}
	buf_release(&sp.bytes);
}

static void a_damaged_column_spares_the_others(void **state)
{
	static const int number[] = { EVERY_number };
	struct store_batch batch = STORE_BATCH_INIT;
	struct specimen sp;
	struct store_table *t;
	struct store_loss loss;
	struct sonde_err err = SONDE_ERR_INIT;

	(void)state;
	specimen_make(&sp);
	sp.bytes.data[sp.block_end[2] - 1] ^= 1; /* in the bytes of the last column, a TEXT */
	assert_int_equal(store_table_open_memory(&t, sp.bytes.data, sp.bytes.len, "every", NULL), 0);
	assert_int_equal(store_block_load(t, 2, number, 1, &batch, NULL), 0);
	every_check(&batch);
	assert_int_equal(store_block_load(t, 2, NULL, 0, &batch, &err), -EBADMSG);
	assert_non_null(strstr(err.text, "block 2"));
	assert_int_equal(batch.rows, 0);
	assert_int_equal(store_block_load(t, 2, NULL, 0, &batch, NULL), -EBADMSG);
	store_table_loss(t, &loss);
	assert_int_equal(loss.blocks, 1);
	assert_int_equal(loss.rows, ROWS);
	store_batch_release(&batch);
	store_table_free(t);
	buf_release(&sp.bytes);
}

static int count_rows(void *arg, unsigned worker, size_t block, const struct store_batch *batch)
{
	(void)worker;
	assert_true(block != 1 && block != 3);
	every_check(batch);
	__atomic_fetch_add((uint64_t *)arg, batch->rows, __ATOMIC_RELAXED);
	return 0;
}

static void a_scan_skips_damaged_blocks_and_says_so(void **state)
{
	struct store_scan_opts opts = { .threads = 3 };
	struct specimen sp;
	struct store_table *t;
	struct store_loss loss;
	uint64_t rows = 0;

	(void)state;
	specimen_make(&sp);
	sp.bytes.data[sp.block_end[1] - 9] ^= 1;
	sp.bytes.data[sp.block_end[2] + 20] ^= 1; /* head of block 3 */
	assert_int_equal(store_table_open_memory(&t, sp.bytes.data, sp.bytes.len, "every", NULL), 0);
	assert_int_equal(store_scan(t, &opts, count_rows, &rows, NULL), 0);
	assert_int_equal(rows, 3 * ROWS);
	store_table_loss(t, &loss);
	assert_int_equal(loss.blocks, 2);
	assert_int_equal(loss.rows, 2 * ROWS);
	assert_int_equal(store_table_check(t, NULL), 0);
	store_table_loss(t, &loss);
	assert_int_equal(loss.blocks, 2);
	store_table_free(t);
	buf_release(&sp.bytes);
}

/* A text that is itself a whole table must not be taken for blocks of the table it is in. */
static void a_table_inside_a_text_is_only_a_text(void **state)
{
	struct specimen sp;
	struct scratch s;
	struct store_writer *w;
	struct store_table *t;
	struct store_text text;
	struct store_string row = { .id = 1, .text = &text };
	struct buf bytes = BUF_INIT;

	(void)state;
	specimen_make(&sp);
	text = (struct store_text){ .data = sp.bytes.data, .bytes = sp.bytes.len };
	scratch_make(&s);
	assert_int_equal(store_writer_open(&w, s.dirfd, &store_string_schema, NULL), 0);
	assert_int_equal(store_add_string(w, &row, NULL), 0);
	assert_int_equal(store_writer_flush(w, NULL), 0);
	store_writer_free(w);
	scratch_read(&s, "string.tbl", &bytes);
	assert_int_equal(store_table_open_memory(&t, bytes.data, bytes.len, "string", NULL), 0);
	assert_int_equal(store_table_blocks(t), 1);
	bytes.data[store_block_info(t, 0)->offset + 10] ^= 1;
	store_table_free(t);
	assert_int_equal(store_table_open_memory(&t, bytes.data, bytes.len, "string", NULL), 0);
	assert_int_equal(store_table_blocks(t), 0);
	store_table_free(t);
	buf_release(&bytes);
	buf_release(&sp.bytes);
	scratch_remove(&s);
}

static void a_newer_format_is_refused_with_words(void **state)
{
	const uint32_t newer = STORE_FORMAT_VERSION + 1;
	struct sonde_err err = SONDE_ERR_INIT;
	struct buf head = BUF_INIT;
	struct store_table *t;
	uint64_t hash;

	(void)state;
	store_format_head(&head, &every_schema, 5);
	assert_int_equal(store_table_open_memory(&t, head.data, head.len, "every", NULL), 0);
	store_table_free(t);
	memcpy(head.data + offsetof(struct store_file_head, version), &newer, sizeof(newer));
	hash = store_hash(head.data, head.len - sizeof(hash), 5);
	memcpy(head.data + head.len - sizeof(hash), &hash, sizeof(hash));
	assert_int_equal(store_table_open_memory(&t, head.data, head.len, "every", &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "format 2"));
	buf_release(&head);
}

/* The child writes and flushes until it is killed, and tells through a pipe how many rows it had flushed. */
static void write_until_killed(const struct scratch *s, int fd)
{
	struct store_writer *w;
	uint64_t rows = 0;

	if (store_writer_open(&w, s->dirfd, &every_schema, NULL) < 0)
		_exit(1);
	for (;;) {
		size_t n = 1 + rows % 40;

		every_add(w, rows, n);
		rows += n;
		if (store_writer_flush(w, NULL) < 0 || fs_write_all(fd, &rows, sizeof(rows)) < 0)
			_exit(1);
	}
}

static uint64_t last_number(int fd)
{
	uint64_t rows = 0, next;

	while (read(fd, &next, sizeof(next)) == (ssize_t)sizeof(next))
		rows = next;
	return rows;
}

static void kill_and_read(unsigned round)
{
	struct scratch s;
	struct store_table *t;
	struct store_loss loss;
	uint64_t told;
	int pipe_fd[2], rc;
	pid_t child;

	scratch_make(&s);
	assert_int_equal(pipe(pipe_fd), 0);
	child = fork();
	if (child == 0) {
		close(pipe_fd[0]);
		write_until_killed(&s, pipe_fd[1]);
	}
	close(pipe_fd[1]);
	usleep(1000 + 700 * round);
	kill(child, SIGKILL);
	told = last_number(pipe_fd[0]);
	close(pipe_fd[0]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	rc = store_table_open(&t, s.dirfd, "every", NULL);
	if (rc == -ENOENT && told == 0) { /* it died before there was a table */
		scratch_remove(&s);
		return;
	}
	assert_int_equal(rc, 0);
	store_table_loss(t, &loss);
	assert_true(loss.is_open);
	assert_true(store_table_rows(t) >= told);
	assert_int_equal(every_read(t), store_table_rows(t));
	store_table_free(t);
	scratch_remove(&s);
}

static void what_a_killed_writer_flushed_is_there(void **state)
{
	(void)state;
	for (unsigned round = 0; round < 15; round++)
		kill_and_read(round);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_cut_at_any_byte_keeps_its_whole_blocks),
		cmocka_unit_test(a_flipped_bit_never_gives_a_wrong_value),
		cmocka_unit_test(random_damage_never_gives_a_wrong_value),
		cmocka_unit_test(a_damaged_column_spares_the_others),
		cmocka_unit_test(a_scan_skips_damaged_blocks_and_says_so),
		cmocka_unit_test(a_table_inside_a_text_is_only_a_text),
		cmocka_unit_test(a_newer_format_is_refused_with_words),
		cmocka_unit_test(what_a_killed_writer_flushed_is_there),
	};

	return RUN_TESTS(tests);
}
