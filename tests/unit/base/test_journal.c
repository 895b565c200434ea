/*
 * journal: lines that were appended come back, whatever happens to the file, the disk or the process in between.
 *
 * The linker sends write() and writev() of the code under test through this file, which has a disk of a given size and
 * a process that is killed within a write.
 */
#include "../support.h"

#include "base/fs.h"
#include "base/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/sonde-journal.XXXXXX", path[64];
static size_t disk_bytes = SIZE_MAX; /* room left */
static size_t kill_after = SIZE_MAX; /* SIGKILL when so many bytes of a write are written */
static int sync_error, cut_error;

ssize_t __real_write(int fd, const void *bytes, size_t n);
ssize_t __wrap_write(int fd, const void *bytes, size_t n);
ssize_t __wrap_writev(int fd, const struct iovec *parts, int count);
int __real_fdatasync(int fd);
int __wrap_fdatasync(int fd);
int __real_ftruncate64(int fd, off_t length); /* the name with 64-bit file offsets */
int __wrap_ftruncate64(int fd, off_t length);

ssize_t __wrap_write(int fd, const void *bytes, size_t n)
{
	ssize_t done;

	if (n && disk_bytes == 0) {
		errno = ENOSPC;
		return -1;
	}
	if (n > kill_after) {
		__real_write(fd, bytes, kill_after);
		raise(SIGKILL);
	}
	done = __real_write(fd, bytes, n < disk_bytes ? n : disk_bytes);
	if (disk_bytes != SIZE_MAX && done > 0)
		disk_bytes -= (size_t)done;
	return done;
}

ssize_t __wrap_writev(int fd, const struct iovec *parts, int count)
{
	char all[256];
	size_t n = 0;

	for (int i = 0; i < count; i++) {
		memcpy(all + n, parts[i].iov_base, parts[i].iov_len);
		n += parts[i].iov_len;
	}
	return __wrap_write(fd, all, n);
}

int __wrap_fdatasync(int fd)
{
	errno = sync_error;
	return sync_error ? -1 : __real_fdatasync(fd);
}

int __wrap_ftruncate64(int fd, off_t length)
{
	errno = cut_error;
	return cut_error ? -1 : __real_ftruncate64(fd, length);
}

static int set_up(void **state)
{
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/j", dir);
	disk_bytes = kill_after = SIZE_MAX;
	sync_error = cut_error = 0;
	return 0;
}

static int tear_down(void **state)
{
	disk_bytes = kill_after = SIZE_MAX;
	return fs_remove_tree(AT_FDCWD, dir);
}

static int add(struct journal *j, const char *text, struct sonde_err *err)
{
	struct buf line = BUF_INIT;
	int rc;

	buf_adds(&line, text);
	rc = journal_append(j, &line, err);
	buf_release(&line);
	return rc;
}

static void put(const char *text)
{
	assert_int_equal(fs_replace_file(AT_FDCWD, path, text, strlen(text), NULL), 0);
}

static void has(const char *text)
{
	struct buf now = BUF_INIT;

	assert_int_equal(fs_read_file(AT_FDCWD, path, 1 << 20, &now, NULL), 0);
	assert_string_equal(now.data, text);
	buf_release(&now);
}

static void lines_come_back(void **state)
{
	struct buf text = BUF_INIT;
	struct journal j;
	size_t at = 0, size;
	const char *line;

	assert_int_equal(journal_open(&j, path, JOURNAL_NEW, 0600, NULL, NULL), 0);
	assert_int_equal(add(&j, "{\"a\":1}", NULL), 0);
	journal_close(&j);
	buf_adds(&text, "from before"); /* is replaced */
	assert_int_equal(journal_open(&j, path, 0, 0600, &text, NULL), 0);
	assert_int_equal(add(&j, "{}", NULL), 0);
	assert_int_equal(add(&j, "", NULL), 0);
	journal_close(&j);
	has("{\"a\":1}\n{}\n\n");
	assert_int_equal(journal_open(&j, path, 0, 0600, &text, NULL), 0);
	line = journal_line(&text, &at, &size);
	assert_true(line && size == 7 && !memcmp(line, "{\"a\":1}", 7));
	line = journal_line(&text, &at, &size);
	assert_true(line && size == 2 && !memcmp(line, "{}", 2));
	line = journal_line(&text, &at, &size);
	assert_true(line && size == 0);
	assert_null(journal_line(&text, &at, &size));
	assert_int_equal(at, text.len);
	assert_int_equal(journal_clear(&j, NULL), 0);
	assert_int_equal(add(&j, "{\"b\":1}", NULL), 0);
	has("{\"b\":1}\n");
	journal_close(&j);
	journal_close(&j);
	buf_release(&text);
}

static void a_new_one_does_not_overwrite(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct journal j;

	put("{}\n");
	assert_int_equal(journal_open(&j, path, JOURNAL_NEW, 0600, NULL, &err), -EEXIST);
	assert_non_null(strstr(err.text, path));
	assert_int_equal(j.fd, -1);
	assert_int_equal(add(&j, "{}", NULL), 0); /* a closed one ignores it */
	has("{}\n");
	snprintf(path, sizeof(path), "%s/no/such/dir", dir);
	assert_int_equal(journal_open(&j, path, 0, 0600, NULL, NULL), -ENOENT);
}

/* Opening changes nothing: it may be a wrong file. */
static void an_incomplete_last_line_is_dropped(void **state)
{
	static const struct {
		const char *before, *trimmed;
		size_t cut;
	} cases[] = {
		{ "", "", 0 },
		{ "{}\n", "{}\n", 0 },
		{ "{\"run\":4,\"si", "", 12 },
		{ "{}\n{\"x\":", "{}\n", 5 },
		{ "{}\n{}\n{", "{}\n{}\n", 1 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct buf text = BUF_INIT, expected = BUF_INIT;
		struct journal j;

		put(cases[i].before);
		assert_int_equal(journal_open(&j, path, 0, 0600, &text, NULL), 0);
		assert_int_equal(j.cut_bytes, cases[i].cut);
		has(cases[i].before);
		if (i % 2) {
			assert_int_equal(journal_trim(&j, NULL), 0);
			has(cases[i].trimmed);
		}
		assert_int_equal(add(&j, "{\"y\":2}", NULL), 0);
		buf_addf(&expected, "%s{\"y\":2}\n", cases[i].trimmed);
		has(expected.data);
		journal_close(&j);
		buf_release(&text);
		buf_release(&expected);
	}
}

static void one_writer_at_a_time(void **state)
{
	struct buf text = BUF_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	struct journal a, b;

	assert_int_equal(journal_open(&a, path, 0, 0600, &text, NULL), 0);
	assert_int_equal(journal_open(&b, path, 0, 0600, &text, &err), -EBUSY);
	assert_non_null(strstr(err.text, "in use"));
	assert_int_equal(add(&a, "{}", NULL), 0);
	journal_close(&a);
	assert_int_equal(journal_open(&b, path, 0, 0600, &text, NULL), 0);
	assert_string_equal(text.data, "{}\n");
	journal_close(&b);
	buf_release(&text);
}

/* A child that has inherited the lock ends a moment after its parent. */
static void the_lock_of_a_killed_writer_is_awaited(void **state)
{
	struct buf text = BUF_INIT;
	struct journal j;
	pid_t pid;

	assert_int_equal(journal_open(&j, path, 0, 0600, &text, NULL), 0);
	pid = fork();
	if (pid == 0) {
		usleep(100000);
		_exit(0);
	}
	journal_close(&j);
	assert_int_equal(journal_open(&j, path, 0, 0600, &text, NULL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	journal_close(&j);
	buf_release(&text);
}

static void nothing_of_a_line_stays_on_a_full_disk(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct journal j;

	assert_int_equal(journal_open(&j, path, JOURNAL_NEW, 0600, NULL, NULL), 0);
	assert_int_equal(add(&j, "{\"a\":1}", NULL), 0);
	for (disk_bytes = 0; disk_bytes < 10;) {
		size_t room = disk_bytes;
		int rc = add(&j, "{\"b\":22}", &err);

		assert_int_equal(rc, room < 9 ? -ENOSPC : 0);
		if (rc) {
			assert_non_null(strstr(err.text, path));
			assert_non_null(strstr(err.text, "No space left"));
			has("{\"a\":1}\n");
		} else {
			has("{\"a\":1}\n{\"b\":22}\n");
			break;
		}
		disk_bytes = room + 1;
	}
	journal_close(&j);
}

/* If the incomplete line cannot be removed either, the next append does it. */
static void a_line_that_could_not_be_removed_is_removed_later(void **state)
{
	struct journal j;

	assert_int_equal(journal_open(&j, path, JOURNAL_NEW, 0600, NULL, NULL), 0);
	assert_int_equal(add(&j, "{\"a\":1}", NULL), 0);
	disk_bytes = 3;
	cut_error = EIO;
	assert_int_equal(add(&j, "{\"b\":2}", NULL), -ENOSPC);
	has("{\"a\":1}\n{\"b");
	disk_bytes = SIZE_MAX;
	assert_int_equal(add(&j, "{\"c\":3}", NULL), -EIO); /* not behind the incomplete one */
	has("{\"a\":1}\n{\"b");
	cut_error = 0;
	assert_int_equal(add(&j, "{\"c\":3}", NULL), 0);
	has("{\"a\":1}\n{\"c\":3}\n");
	journal_close(&j);
}

static void a_line_that_is_not_on_disk_is_a_failure(void **state)
{
	struct journal j;

	assert_int_equal(journal_open(&j, path, JOURNAL_NEW, 0600, NULL, NULL), 0);
	sync_error = EIO;
	assert_int_equal(add(&j, "{\"a\":1}", NULL), -EIO);
	sync_error = 0;
	has("");
	journal_close(&j);
}

/* Killed after any number of bytes: the lines before are there, and it goes on behind them. */
static void a_writer_killed_within_a_line_is_survived(void **state)
{
	static const char line[] = "{\"b\":22}";

	for (size_t bytes = 0; bytes < sizeof(line); bytes++) {
		struct buf text = BUF_INIT;
		struct journal j;
		int status;
		pid_t pid;

		unlink(path);
		pid = fork();
		if (pid == 0) {
			if (journal_open(&j, path, JOURNAL_NEW, 0600, NULL, NULL) || add(&j, "{\"a\":1}", NULL))
				_exit(1);
			kill_after = bytes;
			add(&j, line, NULL);
			_exit(2);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
		assert_int_equal(journal_open(&j, path, 0, 0600, &text, NULL), 0);
		assert_int_equal(j.cut_bytes, bytes);
		assert_int_equal(add(&j, "{\"c\":3}", NULL), 0);
		has("{\"a\":1}\n{\"c\":3}\n");
		journal_close(&j);
		buf_release(&text);
	}
}

static void a_shared_log_keeps_lines_apart(void **state)
{
	struct journal a, b;

	put("{\"old\":");
	assert_int_equal(journal_open(&a, path, JOURNAL_SHARED, 0600, NULL, NULL), 0);
	assert_int_equal(add(&a, "{\"a\":1}", NULL), 0);
	has("{\"old\":\n{\"a\":1}\n");
	assert_int_equal(journal_open(&b, path, JOURNAL_SHARED, 0600, NULL, NULL), 0);
	assert_int_equal(add(&b, "{\"b\":1}", NULL), 0);
	disk_bytes = 2;
	assert_int_equal(add(&a, "{\"a\":2}", NULL), -ENOSPC);
	assert_int_equal(add(&a, "{\"a\":3}", NULL), -ENOSPC);
	disk_bytes = SIZE_MAX;
	assert_int_equal(add(&a, "{\"a\":4}", NULL), 0);
	assert_int_equal(add(&a, "{\"a\":5}", NULL), 0);
	has("{\"old\":\n{\"a\":1}\n{\"b\":1}\n{\"\n{\"a\":4}\n{\"a\":5}\n");
	journal_close(&a);
	journal_close(&b);
}

static void a_shared_log_follows_no_link(void **state)
{
	char link[sizeof(path) + 2];
	struct journal j;

	put("");
	snprintf(link, sizeof(link), "%s.l", path);
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(journal_open(&j, link, JOURNAL_SHARED, 0600, NULL, NULL), -ELOOP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lines_come_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_new_one_does_not_overwrite, set_up, tear_down),
		cmocka_unit_test_setup_teardown(an_incomplete_last_line_is_dropped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_writer_at_a_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_lock_of_a_killed_writer_is_awaited, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nothing_of_a_line_stays_on_a_full_disk, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_line_that_could_not_be_removed_is_removed_later, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_line_that_is_not_on_disk_is_a_failure, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_writer_killed_within_a_line_is_survived, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_shared_log_keeps_lines_apart, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_shared_log_follows_no_link, set_up, tear_down),
	};

	return RUN_TESTS(tests);
}
