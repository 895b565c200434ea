/*
 * cgroup-map: where a leaf of version 2 goes, in trees of files of our own. A group in which we live cannot hand its
 * controllers on; here its cgroup.subtree_control is a directory, which takes no writing either.
 */
#include "../support.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "launch/cgroup.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[512], parent[600], own[700];

static void put(const char *dir, const char *name, const char *text)
{
	char path[800];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

static void make(const char *dir, const char *controllers, const char *handed_on)
{
	char path[800];

	mkdir(dir, 0700);
	put(dir, "cgroup.procs", "");
	put(dir, "cgroup.controllers", controllers);
	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", dir);
	if (handed_on)
		put(dir, "cgroup.subtree_control", handed_on);
	else
		assert_int_equal(mkdir(path, 0700), 0);
}

static int set_up(void **state)
{
	int rc = fs_temp_dir(top, "sonde-unit-cgroup", NULL);

	snprintf(parent, sizeof(parent), "%s/slice", top);
	snprintf(own, sizeof(own), "%s/service", parent);
	return rc;
}

static int tear_down(void **state)
{
	fs_remove_tree(AT_FDCWD, top);
	return 0;
}

static struct cgroup_map map_of(const struct job_limits *limits, int *rc)
{
	struct cgroup_map m;

	memset(&m, 0, sizeof(m));
	snprintf(m.base[CGROUP_CORE], sizeof(m.base[CGROUP_CORE]), "%.500s", own);
	m.is_v2[CGROUP_CORE] = true;
	*rc = cgroup_map_choose(&m, limits, NULL);
	return m;
}

/* What is watched goes beside us, where the controllers are that we have. */
static void watched(void **state)
{
	static const enum cgroup_controller all[] = { CGROUP_CORE, CGROUP_CPU, CGROUP_MEMORY, CGROUP_PIDS, CGROUP_IO };
	const struct job_limits limits = { .is_watched = true };
	struct cgroup_map m;
	int rc;

	make(parent, "cpu io memory pids cpuset\n", "cpu io memory pids\n");
	make(own, "cpu io memory pids\n", NULL);
	m = map_of(&limits, &rc);
	assert_int_equal(rc, 0);
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		assert_string_equal(m.base[all[i]], parent);
		assert_true(m.is_v2[all[i]]);
	}
	m = map_of(&(struct job_limits){ 0 }, &rc);
	assert_int_equal(rc, 0);
	assert_string_equal(m.base[CGROUP_CORE], own); /* nobody asked */
	assert_string_equal(m.base[CGROUP_CPU], "");
}

/* Where we do not live in it, our own group is told to hand on what it has. */
static void enabled(void **state)
{
	const struct job_limits limits = { .is_watched = true };
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct cgroup_map m;
	char path[800];
	int rc;

	make(parent, "memory\n", "memory\n");
	make(own, "memory\n", "");
	m = map_of(&limits, &rc);
	assert_int_equal(rc, 0);
	assert_string_equal(m.base[CGROUP_CORE], own);
	snprintf(path, sizeof(path), "%s/cgroup.subtree_control", own);
	assert_int_equal(fs_read_file(AT_FDCWD, path, 100, &text, NULL), 0);
	assert_string_equal(text.data, "+memory");
}

/* Beside us is not ours to use, or there is nothing: a group without controllers does, a limit without one does not. */
static void without(void **state)
{
	struct cgroup_map m;
	char path[800];
	int rc;

	mkdir(parent, 0700); /* no control group */
	make(own, "cpu memory\n", NULL);
	m = map_of(&(struct job_limits){ .is_watched = true }, &rc);
	assert_int_equal(rc, 0);
	assert_string_equal(m.base[CGROUP_CORE], own);
	assert_string_equal(m.base[CGROUP_MEMORY], "");
	map_of(&(struct job_limits){ .is_watched = true, .pids = 3 }, &rc);
	assert_true(rc < 0);
	snprintf(path, sizeof(path), "%s/cgroup.procs", own);
	assert_int_equal(unlink(path), 0); /* no process may be moved there */
	map_of(&(struct job_limits){ .is_watched = true }, &rc);
	assert_true(rc < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(watched, set_up, tear_down),
		cmocka_unit_test_setup_teardown(enabled, set_up, tear_down),
		cmocka_unit_test_setup_teardown(without, set_up, tear_down),
	};

	return RUN_TESTS(tests);
}
