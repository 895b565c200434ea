/* Mounts by descriptor: beneath what is allowed, whatever becomes of the path; nothing is left of killed processes. */
#include "../support.h"

#include "base/fs.h"
#include "launch/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char top[FS_TEMP_BYTES];

static const char *at(const char *name)
{
	static char paths[8][FS_TEMP_BYTES + 64];
	static unsigned next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", top, name);
	return path;
}

static void write_file(const char *path, const char *text)
{
	assert_int_equal(fs_write_output(path, text, strlen(text), NULL), 0);
}

static int make_tree(void **state)
{
	(void)state;
	assert_int_equal(fs_temp_dir(top, "sonde-mounts-test", NULL), 0);
	for (const char *const *dir = (const char *const[]){ "allowed", "allowed/dir", "secret", NULL }; *dir; dir++)
		assert_int_equal(mkdir(at(*dir), 0755), 0);
	write_file(at("allowed/dir/file"), "harmless");
	write_file(at("allowed/file"), "one");
	write_file(at("secret/file"), "secret");
	assert_int_equal(symlink("../secret", at("allowed/up")), 0);
	assert_int_equal(symlink(at("secret"), at("allowed/away")), 0);
	assert_int_equal(symlink("dir", at("allowed/inner")), 0);
	assert_int_equal(symlink("/proc/self/root", at("allowed/magic")), 0);
	return 0;
}

static int remove_tree(void **state)
{
	(void)state;
	return fs_remove_tree(AT_FDCWD, top);
}

static int opened(const char *source)
{
	struct job_mount m = { .source = at(source), .target = "/mnt", .beneath = at("allowed") };
	int fd = mount_open(&m);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static void only_beneath(void **state)
{
	(void)state;
	assert_int_equal(opened("allowed"), 0);
	assert_int_equal(opened("allowed/"), 0);
	assert_int_equal(opened("allowed/dir"), 0);
	assert_int_equal(opened("allowed/file"), 0);
	assert_int_equal(opened("allowed/inner"), 0);
	assert_int_equal(opened("allowed/up"), -EXDEV);
	assert_int_equal(opened("allowed/away"), -EXDEV);
	assert_int_equal(opened("allowed/magic"), -EXDEV);
	assert_int_equal(opened("allowed/../secret"), -EXDEV);
	assert_int_equal(opened("secret"), -EXDEV);
	assert_int_equal(opened("allowed/none"), -ENOENT);
}

static void assert_text(const struct mount_dir *d, const char *file, const char *wanted)
{
	char path[128];
	struct buf text = BUF_INIT;

	snprintf(path, sizeof(path), "%s/%s", d->path, file);
	assert_int_equal(fs_read_file(AT_FDCWD, path, 100, &text, NULL), 0);
	assert_string_equal(text.data, wanted);
	buf_release(&text);
}

static bool is_root(void)
{
	if (geteuid() == 0)
		return true;
	print_message("# SKIP only root can bind mount\n");
	return false;
}

/* The engine's look-up comes later: by then the path is a link, and what it is given has not changed. */
static void a_swap_changes_nothing(void **state)
{
	struct job_mount mounts[] = {
		{ .source = at("allowed/dir"), .target = "/a", .is_read_only = true, .beneath = at("allowed") },
		{ .source = "/etc", .target = "/b" },
		{ .source = at("allowed/file"), .target = "/c", .beneath = at("allowed") }
	};
	struct mount_dir d;
	char path[128];

	(void)state;
	if (!is_root())
		return;
	assert_int_equal(mount_dir_make(&d, mounts, 3, NULL), 0);
	assert_int_equal(rename(at("allowed/dir"), at("allowed/old")), 0);
	assert_int_equal(symlink("../secret", at("allowed/dir")), 0);
	assert_text(&d, "0/file", "harmless");
	assert_text(&d, "2", "one");
	mount_dir_source(&d, &mounts[1], 1, path, sizeof(path));
	assert_string_equal(path, "/etc");
	snprintf(path, sizeof(path), "%s/0/new", d.path);
	assert_int_equal(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600), -1);
	assert_int_equal(errno, EROFS);
	assert_false(mount_dir_is_passed(&d, getpid()));
	snprintf(path, sizeof(path), "%s", d.path);
	mount_dir_release(&d);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(access(at("allowed/old/file"), F_OK), 0);
	assert_int_equal(unlink(at("allowed/dir")), 0);
	assert_int_equal(rename(at("allowed/old"), at("allowed/dir")), 0);
}

static void the_next_removes_what_a_killed_one_left(void **state)
{
	struct job_mount m = { .source = at("allowed/dir"), .target = "/a", .beneath = at("allowed") };
	struct mount_dir d, own;
	int ends[2];

	(void)state;
	if (!is_root())
		return;
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		if (mount_dir_make(&d, &m, 1, NULL) || write(ends[1], &d, sizeof(d)) != sizeof(d))
			_exit(1);
		pause();
	}
	assert_int_equal(read(ends[0], &d, sizeof(d)), sizeof(d));
	assert_int_equal(mount_dir_make(&own, &m, 1, NULL), 0);
	mount_dir_sweep();
	assert_text(&d, "0/file", "harmless"); /* its process lives */
	assert_int_equal(kill(child, SIGKILL), 0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_text(&d, "0/file", "harmless");
	mount_dir_sweep();
	assert_int_equal(access(d.path, F_OK), -1);
	assert_text(&own, "0/file", "harmless");
	mount_dir_release(&own);
	assert_int_equal(access(at("allowed/dir/file"), F_OK), 0); /* unmounted, not deleted */
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_beneath),
		cmocka_unit_test(a_swap_changes_nothing),
		cmocka_unit_test(the_next_removes_what_a_killed_one_left),
	};

	return cmocka_run_group_tests(tests, make_tree, remove_tree);
}
