/*
 * gzip files of one and many members: whole, cut at every byte, damaged, with junk behind.
 */
#include "traces.h"

#include "pfw/gzip-read.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct buf text = BUF_INIT, packed = BUF_INIT;

/* Some lines that compress as traces do. */
static void make_text(size_t lines)
{
	buf_reset(&text);
	for (size_t i = 0; i < lines; i++)
		buf_addf(&text, "{\"id\":%zu,\"name\":\"read\",\"ts\":%zu}\n", i, i * 1237 % 9973);
}

static enum pfw_gzip_status read_all(const char *path, uint64_t from, struct buf *out, size_t room)
{
	int fd = open(path, O_RDONLY);
	enum pfw_gzip_status status;
	struct pfw_gzip *g;
	char *piece = malloc(room);

	buf_reset(out);
	assert_int_equal(pfw_gzip_open(&g, fd, from), 0);
	do {
		size_t n;

		status = pfw_gzip_read(g, piece, room, &n);
		buf_add(out, piece, n);
	} while (status == PFW_GZIP_MORE || status == PFW_GZIP_MEMBER);
	pfw_gzip_free(g);
	free(piece);
	close(fd);
	return status;
}

static void members_are_read_one_after_the_other(void **state)
{
	struct buf out = BUF_INIT;
	struct traces t;

	(void)state;
	traces_make(&t);
	make_text(30000);
	buf_reset(&packed);
	for (size_t at = 0; at < text.len; at += 100000)
		assert_int_equal(pfw_gzip_deflate(&packed, text.data + at,
						 text.len - at < 100000 ? text.len - at : 100000),
				0);
	traces_write("a.gz", packed.data, packed.len);
	for (size_t room = 7; room < (1 << 20); room = room * 11 + 1) {
		assert_int_equal(read_all("a.gz", 0, &out, room), PFW_GZIP_END);
		assert_int_equal(out.len, text.len);
		assert_memory_equal(out.data, text.data, text.len);
	}
	buf_release(&out);
	traces_remove(&t);
}

static void a_cut_file_gives_what_it_has(void **state)
{
	struct buf out = BUF_INIT;
	struct traces t;
	size_t last = 0;

	(void)state;
	traces_make(&t);
	make_text(200);
	buf_reset(&packed);
	pfw_gzip_deflate(&packed, text.data, text.len);
	for (size_t n = 1; n < packed.len; n++) {
		traces_write("a.gz", packed.data, n);
		assert_int_equal(read_all("a.gz", 0, &out, 4096), n < 3 && n > 1 ? PFW_GZIP_CUT : PFW_GZIP_CUT);
		assert_true(out.len <= text.len && !memcmp(out.data, text.data, out.len));
		assert_true(out.len >= last);
		last = out.len;
	}
	assert_true(last > text.len / 2);
	buf_release(&out);
	traces_remove(&t);
}

/* Whatever byte is wrong, it is noticed or was without meaning (name, time, system). */
static void damage_is_noticed(void **state)
{
	struct buf out = BUF_INIT;
	struct traces t;

	(void)state;
	traces_make(&t);
	make_text(100);
	buf_reset(&packed);
	pfw_gzip_deflate(&packed, text.data, text.len);
	for (size_t i = PFW_GZIP_HEAD_BYTES; i < packed.len; i++) {
		packed.data[i] ^= 0x24;
		traces_write("a.gz", packed.data, packed.len);
		assert_int_not_equal(read_all("a.gz", 0, &out, 1000), PFW_GZIP_END);
		packed.data[i] ^= 0x24;
	}
	buf_release(&out);
	traces_remove(&t);
}

static void junk_behind_the_members_is_told(void **state)
{
	struct buf out = BUF_INIT;
	struct traces t;

	(void)state;
	traces_make(&t);
	make_text(10);
	buf_reset(&packed);
	pfw_gzip_deflate(&packed, text.data, text.len);
	buf_add(&packed, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	traces_write("a.gz", packed.data, packed.len);
	assert_int_equal(read_all("a.gz", 0, &out, 4096), PFW_GZIP_JUNK);
	assert_int_equal(out.len, text.len);
	buf_release(&out);
	traces_remove(&t);
}

/* Members begin where they were made, whatever the stride; reading from each gives what follows. */
static void members_are_found(void **state)
{
	uint64_t made[40], *starts;
	struct buf out = BUF_INIT;
	struct traces t;
	size_t count, from = 0;
	int fd;

	(void)state;
	traces_make(&t);
	buf_reset(&packed);
	make_text(2000);
	for (size_t i = 0; i < 40; i++) {
		made[i] = packed.len;
		pfw_gzip_deflate(&packed, text.data + from, 1000);
		from += 1000;
	}
	traces_write("a.gz", packed.data, packed.len);
	fd = open("a.gz", O_RDONLY);
	assert_int_equal(pfw_gzip_scan(fd, packed.len, 1, &starts, &count, NULL), 0);
	assert_int_equal(count, 40);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(starts[i], made[i]);
		assert_int_equal(read_all("a.gz", starts[i], &out, 512), PFW_GZIP_END);
		assert_int_equal(out.len, (40 - i) * 1000);
		assert_memory_equal(out.data, text.data + i * 1000, out.len);
	}
	free(starts);
	assert_int_equal(pfw_gzip_scan(fd, packed.len, packed.len / 5, &starts, &count, NULL), 0);
	assert_true(count >= 4 && count <= 5);
	free(starts);
	close(fd);
	buf_release(&out);
	traces_remove(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_are_read_one_after_the_other),
		cmocka_unit_test(a_cut_file_gives_what_it_has),
		cmocka_unit_test(damage_is_noticed),
		cmocka_unit_test(junk_behind_the_members_is_told),
		cmocka_unit_test(members_are_found),
	};
	int rc = RUN_TESTS(tests);

	buf_release(&text);
	buf_release(&packed);
	return rc;
}
