/* container: its id in the path of a control group, its name by conmon's words and by docker's file. */
#include "../support.h"

#include "base/fs.h"
#include "live/proc-metrics.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ID "13ee4d3c00783571c581602d41361108f2c49c125a7fab0f0563957f3f944c40"

static void id(void **state)
{
	char text[80];

	live_container_id("4:memory:/machine.slice/libpod-" ID ".scope\n", text, sizeof(text));
	assert_string_equal(text, ID);
	live_container_id("0::/docker/" ID "\n", text, sizeof(text));
	assert_string_equal(text, ID);
	live_container_id("0::/user.slice\n1:cpu:/" ID "0\n", text, sizeof(text));
	assert_string_equal(text, "");
}

static void conmon(void **state)
{
	static const char words[] = "/usr/bin/conmon\0--api-version\0"
				    "1\0-c\0" ID "\0-u\0" ID "\0-n\0camera\0--exit-dir\0/run";
	static const char last[] = "conmon\0-c\0" ID "\0-n", other[] = "/usr/bin/python3\0-c\0" ID "\0-n\0camera";
	char name[64] = "";

	assert_true(live_container_conmon(words, sizeof(words), ID, name, sizeof(name)));
	assert_string_equal(name, "camera");
	assert_false(live_container_conmon(words, sizeof(words), "another", name, sizeof(name)));
	assert_false(live_container_conmon(last, sizeof(last), ID, name, sizeof(name)));
	assert_false(live_container_conmon(other, sizeof(other), ID, name, sizeof(name)));
	assert_false(live_container_conmon("", 0, ID, name, sizeof(name)));
}

static void docker(void **state)
{
	static const char text[] = "{\"StreamConfig\":{},\"ID\":\"" ID
				   "\",\"Name\":\"/camera\",\"Driver\":\"overlay2\"}";
	char root[512], path[700], name[64] = "";

	assert_int_equal(fs_temp_dir(root, "sonde-unit-docker", NULL), 0);
	snprintf(path, sizeof(path), "%s/containers/" ID, root);
	assert_int_equal(fs_mkdir_p(path, 0700, NULL), 0);
	assert_false(live_container_docker(root, ID, name, sizeof(name)));
	strncat(path, "/config.v2.json", sizeof(path) - strlen(path) - 1);
	assert_int_equal(fs_replace_file(AT_FDCWD, path, text, strlen(text), NULL), 0);
	assert_true(live_container_docker(root, ID, name, sizeof(name)));
	assert_string_equal(name, "camera");
	fs_remove_tree(AT_FDCWD, root);
}

static bool env_names(int root, const char *wanted)
{
	char name[64] = "";

	return live_container_env(root, name, sizeof(name)) && strcmp(name, wanted) == 0;
}

/* The file is the container's: a link to the host's files is resolved in its root, and a pipe is not waited for. */
static void containerenv(void **state)
{
	char top[512], path[700], outside[700];

	(void)state;
	assert_int_equal(fs_temp_dir(top, "sonde-unit-env", NULL), 0);
	snprintf(outside, sizeof(outside), "%s/secret", top);
	assert_int_equal(fs_replace_file(AT_FDCWD, outside, "name=\"secret\"", 13, NULL), 0);
	snprintf(path, sizeof(path), "%s/root/run", top);
	assert_int_equal(fs_mkdir_p(path, 0700, NULL), 0);
	snprintf(path, sizeof(path), "%s/root", top);
	int root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	strncat(path, "/run/.containerenv", sizeof(path) - strlen(path) - 1);
	assert_false(env_names(root, ""));
	assert_int_equal(symlink(outside, path), 0);
	assert_false(env_names(root, "secret"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("../../secret", path), 0);
	assert_false(env_names(root, "secret"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_false(env_names(root, ""));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(fs_replace_file(AT_FDCWD, path, "engine=\"podman\"\nname=\"camera\"\n", 31, NULL), 0);
	assert_true(env_names(root, "camera"));
	close(root);
	fs_remove_tree(AT_FDCWD, top);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(id),
		cmocka_unit_test(conmon),
		cmocka_unit_test(docker),
		cmocka_unit_test(containerenv),
	};

	return RUN_TESTS(tests);
}
