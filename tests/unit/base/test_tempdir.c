/* tempdir: goes with its process, or with the next one; never while somebody has it, never what is another's. */
#include "../support.h"

#include "base/fs.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NAME "sonde-test-mine"

static char place[64], *before;

static int enter(void **state)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(place, sizeof(place), "%.40s/sonde-td-XXXXXX", tmp ? tmp : "/tmp");
	before = tmp ? strdup(tmp) : NULL;
	return mkdtemp(place) && setenv("TMPDIR", place, 1) == 0 ? 0 : -1;
}

static int leave(void **state)
{
	if (before)
		setenv("TMPDIR", before, 1);
	else
		unsetenv("TMPDIR");
	free(before);
	return fs_remove_tree(AT_FDCWD, place);
}

static bool is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static void goes_when_released(void **state)
{
	struct tempdir t = TEMPDIR_INIT;
	char path[FS_TEMP_BYTES], inner[FS_TEMP_BYTES + 8];

	tempdir_release(&t); /* none */
	assert_int_equal(tempdir_make(&t, NAME, NULL), 0);
	memcpy(path, t.path, sizeof(path));
	snprintf(inner, sizeof(inner), "%s/inner", path);
	assert_int_equal(mkdir(inner, 0700), 0);
	tempdir_sweep(NAME);
	assert_true(is_there(inner)); /* somebody has it */
	tempdir_release(&t);
	assert_true(!is_there(path) && !t.path[0]);
	tempdir_release(&t);
}

/* A process that makes one, tells its path and is killed. */
static void make_and_die(char path[FS_TEMP_BYTES])
{
	int fds[2], status;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct tempdir t = TEMPDIR_INIT;

		if (tempdir_make(&t, NAME, NULL) || fs_write_all(fds[1], t.path, sizeof(t.path)))
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(fds[0], path, FS_TEMP_BYTES), FS_TEMP_BYTES);
	close(fds[0]);
	close(fds[1]);
	tempdir_sweep(NAME);
	assert_true(is_there(path)); /* it lives */
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

static void of_a_killed_process_goes_with_the_next(void **state)
{
	char path[FS_TEMP_BYTES];

	make_and_die(path);
	assert_true(is_there(path));
	tempdir_sweep("sonde-test");
	tempdir_sweep("sonde-test-mine.x");
	assert_true(is_there(path)); /* another name */
	tempdir_sweep(NAME);
	assert_true(!is_there(path));
}

static void what_is_no_directory_stays(void **state)
{
	char target[128], link[128], file[128];
	int fd;

	snprintf(target, sizeof(target), "%s/target", place);
	snprintf(link, sizeof(link), "%s/" NAME ".link", place);
	snprintf(file, sizeof(file), "%s/" NAME ".file", place);
	assert_int_equal(mkdir(target, 0700), 0);
	assert_int_equal(symlink(target, link), 0);
	fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	close(fd);
	tempdir_sweep(NAME);
	assert_true(is_there(target) && is_there(link) && is_there(file));
}

static void failures(void **state)
{
	struct tempdir t = TEMPDIR_INIT;
	struct sonde_err err;

	setenv("TMPDIR", "/proc/self/nowhere", 1);
	assert_true(tempdir_make(&t, NAME, &err) < 0);
	assert_non_null(strstr(err.text, "/proc/self/nowhere"));
	tempdir_release(&t);
	tempdir_sweep(NAME);
	setenv("TMPDIR", place, 1);
}

#define IN_PLACE(test) cmocka_unit_test_setup_teardown(test, enter, leave)

int main(void)
{
	const struct CMUnitTest tests[] = {
		IN_PLACE(goes_when_released),
		IN_PLACE(of_a_killed_process_goes_with_the_next),
		IN_PLACE(what_is_no_directory_stays),
		IN_PLACE(failures),
	};

	return RUN_TESTS(tests);
}
