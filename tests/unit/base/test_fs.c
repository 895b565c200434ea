/* fs: whole files or nothing, torn writes and killed writers included; trees removed without leaving them. */
#include "../support.h"

#include "base/cleanup.h"
#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char place[64];
static int dir = -1;

static int enter(void **state)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(place, sizeof(place), "%.40s/sonde-fs-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(place))
		return -1;
	dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return dir < 0 ? -1 : 0;
}

static int leave(void **state)
{
	close(dir);
	return fs_remove_tree(AT_FDCWD, place);
}

static void put(const char *name, const char *text)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(fs_write_all(fd, text, strlen(text)), 0);
	close(fd);
}

static void assert_holds(const char *name, const char *text)
{
	struct buf got = BUF_INIT;

	assert_int_equal(fs_read_file(dir, name, 1 << 20, &got, NULL), 0);
	assert_string_equal(got.data, text);
	buf_release(&got);
}

static bool is_there(const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static void read_appends(void **state)
{
	struct buf b = BUF_INIT;

	put("a", "one\n");
	buf_adds(&b, "zero ");
	assert_int_equal(fs_read_file(dir, "a", 100, &b, NULL), 0);
	assert_string_equal(b.data, "zero one\n");
	buf_release(&b);
}

static void read_at_its_limit(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct buf b = BUF_INIT;

	put("a", "12345");
	assert_int_equal(fs_read_file(dir, "a", 5, &b, &err), 0);
	assert_string_equal(b.data, "12345");
	assert_int_equal(fs_read_file(dir, "a", 4, &b, &err), -EFBIG);
	assert_string_equal(b.data, "12345");
	assert_string_equal(err.text, "cannot read 'a': File too large");
	assert_int_equal(fs_read_file(dir, "a", 0, &b, &err), -EFBIG);
	put("a", "");
	assert_int_equal(fs_read_file(dir, "a", 0, &b, &err), 0);
	buf_release(&b);
}

static void read_longer_than_a_step(void **state)
{
	enum { SIZE = 300000 };
	struct buf b = BUF_INIT;
	char *bytes = malloc(SIZE);

	random_init();
	assert_non_null(bytes);
	random_bytes(bytes, SIZE);
	assert_int_equal(fs_replace_file(dir, "a", bytes, SIZE, NULL), 0);
	assert_int_equal(fs_read_file(dir, "a", SIZE, &b, NULL), 0);
	assert_int_equal(b.len, SIZE);
	assert_memory_equal(b.data, bytes, SIZE);
	assert_int_equal(fs_read_file(dir, "a", SIZE - 1, &b, NULL), -EFBIG);
	assert_int_equal(b.len, SIZE);
	buf_release(&b);
	free(bytes);
}

static void read_of_a_file_without_size(void **state)
{
	struct buf b = BUF_INIT;

	assert_int_equal(fs_read_file(AT_FDCWD, "/proc/self/stat", 4096, &b, NULL), 0);
	assert_true(b.len > 10);
	buf_release(&b);
}

static void read_failures(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct buf b = BUF_INIT, small;

	assert_int_equal(fs_read_file(dir, "none", 100, &b, &err), -ENOENT);
	assert_string_equal(err.text, "cannot open 'none': No such file or directory");
	assert_int_equal(fs_read_file(dir, ".", 100, &b, &err), -EISDIR);
	put("a", "12345678");
	buf_init(&small, 4);
	assert_int_equal(fs_read_file(dir, "a", 100, &small, &err), -ENOMEM);
	assert_string_equal(small.data, "");
	buf_release(&small);
	buf_release(&b);
}

static void on_alarm(int signal)
{
	(void)signal;
}

static void *read_slowly(void *arg)
{
	const int *fd = arg;
	size_t *sum = calloc(1, sizeof(*sum));
	char bytes[1009];
	ssize_t n;

	while (sum && (n = read(*fd, bytes, sizeof(bytes))) > 0)
		for (ssize_t i = 0; i < n; i++)
			*sum = *sum * 31 + (unsigned char)bytes[i];
	return sum;
}

/* A full pipe tears every write, and signals interrupt it; all bytes arrive in order. */
static void write_all_through_a_pipe_and_signals(void **state)
{
	enum { SIZE = 4 << 20 };
	const struct sigaction action = { .sa_handler = on_alarm };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM };
	const struct itimerspec often = { { 0, 100000 }, { 0, 100000 } };
	unsigned char *bytes = malloc(SIZE);
	size_t want = 0;
	void *sum = NULL;
	pthread_t reader;
	sigset_t alarms;
	timer_t timer;
	int pipes[2];

	assert_non_null(bytes);
	random_init();
	random_bytes(bytes, SIZE);
	for (size_t i = 0; i < SIZE; i++)
		want = want * 31 + bytes[i];
	assert_int_equal(pipe(pipes), 0);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &alarms, NULL);
	assert_int_equal(pthread_create(&reader, NULL, read_slowly, &pipes[0]), 0);
	sigaction(SIGALRM, &action, NULL);
	pthread_sigmask(SIG_UNBLOCK, &alarms, NULL);
	assert_int_equal(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
	timer_settime(timer, 0, &often, NULL);
	assert_int_equal(fs_write_all(pipes[1], bytes, SIZE), 0);
	timer_delete(timer);
	close(pipes[1]);
	pthread_join(reader, &sum);
	assert_non_null(sum);
	assert_int_equal(*(size_t *)sum, want);
	close(pipes[0]);
	free(sum);
	free(bytes);
}

static void write_all_failures(void **state)
{
	int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	assert_int_equal(fs_write_all(-1, "x", 1), -EBADF);
	assert_int_equal(fs_write_all(-1, "", 0), 0);
	assert_int_equal(fs_write_all(full, "x", 1), -ENOSPC);
	close(full);
}

static void replace_makes_and_replaces(void **state)
{
	struct stat st;

	assert_int_equal(fs_replace_file(dir, "f", "one", 3, NULL), 0);
	assert_holds("f", "one");
	assert_int_equal(fs_replace_file(dir, "f", "", 0, NULL), 0);
	assert_holds("f", "");
	assert_int_equal(fstatat(dir, "f", &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

/* A link stands in for a device here: no test may replace one, whatever is wrong. */
static void output_goes_into_what_is_no_file(void **state)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	struct stat st;

	buf_addf(&path, "/proc/self/fd/%d/out", dir);
	assert_int_equal(fs_write_output(path.data, "one", 3, NULL), 0);
	assert_holds("out", "one");
	assert_int_equal(fs_write_output(path.data, "2", 1, NULL), 0);
	assert_holds("out", "2");
	buf_reset(&path);
	buf_addf(&path, "/proc/self/fd/%d/link", dir);
	assert_int_equal(symlinkat("out", dir, "link"), 0);
	assert_int_equal(fs_write_output(path.data, "three", 5, NULL), 0);
	assert_holds("out", "three");
	assert_int_equal(unlinkat(dir, "link", 0), 0);
	assert_int_equal(symlinkat("/dev/full", dir, "link"), 0);
	assert_int_equal(fs_write_output(path.data, "x", 1, &err), -ENOSPC);
	assert_int_equal(fstatat(dir, "link", &st, AT_SYMLINK_NOFOLLOW), 0);
	assert_true(S_ISLNK(st.st_mode) && strstr(err.text, "cannot write"));
}

static void replace_does_not_follow_a_link(void **state)
{
	put("target", "old");
	assert_int_equal(symlinkat("target", dir, "f"), 0);
	assert_int_equal(fs_replace_file(dir, "f", "new", 3, NULL), 0);
	assert_holds("target", "old");
	assert_holds("f", "new");
}

static void replace_failures_leave_nothing(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;

	assert_int_equal(fs_replace_file(dir, "none/f", "x", 1, &err), -ENOENT);
	assert_string_equal(err.text, "cannot write 'none/f': No such file or directory");
	assert_int_equal(mkdirat(dir, "d", 0700), 0);
	assert_int_equal(fs_replace_file(dir, "d", "x", 1, &err), -EISDIR);
	assert_int_equal(unlinkat(dir, "d", AT_REMOVEDIR), 0);
	assert_int_equal(rmdir(place), 0); /* empty: no temporary file is left */
	assert_int_equal(mkdir(place, 0700), 0);
}

static void write_for_ever(void)
{
	static char texts[2][100000];

	memset(texts[0], 'a', sizeof(texts[0]));
	memset(texts[1], 'b', sizeof(texts[1]));
	for (unsigned i = 0;; i++)
		if (fs_replace_file(dir, "f", texts[i % 2], sizeof(texts[0]) - i % 2, NULL) < 0)
			_exit(1);
}

static bool is_whole(const struct buf *b)
{
	return (b->len == 100000 || b->len == 99999) && strspn(b->data, b->len == 100000 ? "a" : "b") == b->len;
}

/* Readers beside a busy writer, and after it was killed at any moment, see whole texts only. */
static void replace_is_never_half_seen(void **state)
{
	for (int round = 0; round < 10; round++) {
		pid_t pid = fork();
		int status, seen = 0;

		if (pid == 0)
			write_for_ever();
		while (seen < 20) {
			struct buf b = BUF_INIT;

			if (fs_read_file(dir, "f", 1 << 20, &b, NULL) == 0) {
				assert_true(is_whole(&b));
				seen++;
			}
			buf_release(&b);
		}
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status));
	}
}

static void mkdir_p(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	char path[200];
	struct stat st;

	snprintf(path, sizeof(path), "%s/a//b/c/", place);
	assert_int_equal(fs_mkdir_p(path, 0700, &err), 0);
	assert_int_equal(fs_mkdir_p(path, 0700, &err), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	assert_int_equal(fs_mkdir_p("/", 0700, &err), 0);
	assert_int_equal(fs_mkdir_p("/proc/self", 0700, &err), 0);
	assert_int_equal(fs_mkdir_p("", 0700, &err), -ENOENT);
}

static void mkdir_p_over_a_file(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	char path[200];

	put("file", "");
	snprintf(path, sizeof(path), "%s/file", place);
	assert_int_equal(fs_mkdir_p(path, 0700, &err), -ENOTDIR);
	snprintf(path, sizeof(path), "%s/file/x", place);
	assert_int_equal(fs_mkdir_p(path, 0700, &err), -ENOTDIR);
	assert_non_null(strstr(err.text, "cannot create the directory"));
}

static void mkdir_p_through_a_link(void **state)
{
	char path[200];

	assert_int_equal(mkdirat(dir, "real", 0700), 0);
	assert_int_equal(symlinkat("real", dir, "link"), 0);
	snprintf(path, sizeof(path), "%s/link/x", place);
	assert_int_equal(fs_mkdir_p(path, 0700, NULL), 0);
	assert_true(is_there("real/x"));
}

static void remove_tree(void **state)
{
	put("outside", "stays");
	assert_int_equal(mkdirat(dir, "t", 0700), 0);
	assert_int_equal(mkdirat(dir, "t/sub", 0700), 0);
	assert_int_equal(mkdirat(dir, "t/sub/empty", 0700), 0);
	put("t/a", "");
	put("t/sub/.hidden", "");
	assert_int_equal(symlinkat("../outside", dir, "t/link"), 0);
	assert_int_equal(symlinkat("..", dir, "t/sub/up"), 0);
	assert_int_equal(symlinkat("nowhere", dir, "t/broken"), 0);
	assert_int_equal(fs_remove_tree(dir, "t"), 0);
	assert_false(is_there("t"));
	assert_holds("outside", "stays");
}

static void remove_tree_of_other_things(void **state)
{
	assert_int_equal(fs_remove_tree(dir, "none"), -ENOENT);
	put("file", "");
	assert_int_equal(fs_remove_tree(dir, "file"), 0);
	assert_int_equal(mkdirat(dir, "d", 0700), 0);
	put("d/x", "");
	assert_int_equal(symlinkat("d", dir, "link"), 0);
	assert_int_equal(fs_remove_tree(dir, "link"), 0);
	assert_false(is_there("link"));
	assert_true(is_there("d/x"));
}

static void remove_tree_goes_on_after_a_failure(void **state)
{
	int status;
	pid_t pid;

	if (geteuid() != 0) {
		print_message("# SKIP only root can become another user, as the child below must\n");
		return;
	}
	assert_int_equal(mkdirat(dir, "t", 0777), 0);
	assert_int_equal(mkdirat(dir, "t/locked", 0700), 0);
	put("t/locked/x", "");
	put("t/a", "");
	put("t/z", "");
	assert_int_equal(fchmodat(dir, "t", 0777, 0), 0);
	assert_int_equal(chmod(place, 0777), 0);
	pid = fork();
	if (pid == 0) {
		if (setuid(65534) < 0)
			_exit(1);
		_exit(fs_remove_tree(dir, "t") == -EACCES ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_false(is_there("t/a"));
	assert_false(is_there("t/z"));
	assert_true(is_there("t/locked/x"));
}

/* Copies of this program ask for their prefix from where they lie. */
static void assert_prefix(const char *program_dir, const char *want)
{
	struct buf self = BUF_INIT;
	char path[200], line[300] = "", full[300];
	FILE *answer;

	snprintf(path, sizeof(path), "%s/%s", place, program_dir);
	assert_int_equal(fs_mkdir_p(path, 0700, NULL), 0);
	assert_int_equal(fs_read_file(AT_FDCWD, "/proc/self/exe", 1 << 28, &self, NULL), 0);
	snprintf(path, sizeof(path), "%s/p", program_dir);
	assert_int_equal(fs_replace_file(dir, path, self.data, self.len, NULL), 0);
	assert_int_equal(fchmodat(dir, path, 0700, 0), 0);
	snprintf(full, sizeof(full), "%s/%s --prefix", place, path);
	answer = popen(full, "r");
	assert_non_null(answer);
	if (!fgets(line, sizeof(line), answer))
		line[0] = '\0';
	pclose(answer);
	if (want)
		snprintf(full, sizeof(full), "%s%s", place, want);
	assert_string_equal(line, want ? full : "none");
	buf_release(&self);
}

static void prefix(void **state)
{
	assert_prefix("bin", "");
	assert_prefix("x/bin", "/x");
	assert_prefix("x/libexec/sonde", "/x");
	assert_prefix("elsewhere", NULL);
	assert_prefix("sbin", NULL);
}

static int print_prefix(void)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct buf b = BUF_INIT;

	fputs(fs_prefix(&b, &err) == 0 ? b.data : "none", stdout);
	buf_release(&b);
	return 0;
}

static void safe_names(void **state)
{
	static const struct {
		const char *text;
		size_t max;
		const char *want;
	} cases[] = {
		{ "python3.11", 20, "python3.11" },
		{ "a b/c", 20, "a_b_c" },
		{ "", 20, "_" },
		{ "..", 20, "_." },
		{ "-rf", 20, "_rf" },
		{ ".hidden", 20, "_hidden" },
		{ "abcdef", 3, "abc" },
		{ "\xc3\xa9", 20, "__" },
		{ "-abc", 2, "_a" },
		{ "a\n\x7f\x01", 20, "a___" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct buf b = BUF_INIT;

		fs_safe_name(&b, cases[i].text, cases[i].max);
		assert_string_equal(b.data, cases[i].want);
		buf_release(&b);
	}
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, enter, leave)

static void programs_are_found(void **state)
{
	char path[128], old[4096];

	snprintf(old, sizeof(old), "%s", getenv("PATH"));
	put("plain", "no program");
	put("runs", "#!/bin/sh\n");
	assert_int_equal(fchmodat(dir, "runs", 0700, 0), 0);
	snprintf(path, sizeof(path), "/nowhere:%s", place);
	setenv("PATH", path, 1);
	assert_int_equal(fs_check_program("runs"), 0);
	assert_int_equal(fs_check_program("plain"), EACCES);
	assert_int_equal(fs_check_program("absent"), ENOENT);
	assert_int_equal(fs_check_program(place), EISDIR);
	snprintf(path, sizeof(path), "%s/runs", place);
	assert_int_equal(fs_check_program(path), 0);
	setenv("PATH", "", 1);
	assert_int_equal(fs_check_program("runs"), ENOENT);
	setenv("PATH", old, 1);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		IN_PLACE(read_appends),
		IN_PLACE(read_at_its_limit),
		IN_PLACE(read_longer_than_a_step),
		IN_PLACE(read_of_a_file_without_size),
		IN_PLACE(read_failures),
		cmocka_unit_test(write_all_through_a_pipe_and_signals),
		cmocka_unit_test(write_all_failures),
		IN_PLACE(replace_makes_and_replaces),
		IN_PLACE(output_goes_into_what_is_no_file),
		IN_PLACE(replace_does_not_follow_a_link),
		IN_PLACE(replace_failures_leave_nothing),
		IN_PLACE(replace_is_never_half_seen),
		IN_PLACE(mkdir_p),
		IN_PLACE(mkdir_p_over_a_file),
		IN_PLACE(mkdir_p_through_a_link),
		IN_PLACE(remove_tree),
		IN_PLACE(remove_tree_of_other_things),
		IN_PLACE(remove_tree_goes_on_after_a_failure),
		IN_PLACE(prefix),
		cmocka_unit_test(safe_names),
		cmocka_unit_test_setup_teardown(programs_are_found, enter, leave),
	};

	if (argc > 1 && !strcmp(argv[1], "--prefix"))
		return print_prefix();
	return RUN_TESTS(tests);
}
