/* The hosts of a file, and the home that remembers them. */
#include "../support.h"

#include "base/fs.h"
#include "fleet/remote-hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static struct arena arena;
static struct fleet_dir home;
static struct sonde_err err;
static char dir[FS_TEMP_BYTES];
static const struct fleet_host usual = { .shell = "ssh -T", .sonde = "/usr/bin/sonde", .agents = 3 };

static int setup(void **state)
{
	arena_init(&arena);
	if (fs_temp_dir(dir, "sonde-members", &err) < 0)
		return -1;
	return fleet_dir_load(&home, dir, &arena, &err);
}

static int teardown(void **state)
{
	arena_release(&arena);
	return fs_remove_tree(AT_FDCWD, dir);
}

static int parse(const char *text)
{
	return fleet_members_parse(&home, text, &usual, &arena, &err);
}

static void lines_of_a_file(void **state)
{
	assert_int_equal(parse("# all\n a\n\nuser@b agents=0 # small\r\nfe80::1"), 0);
	assert_int_equal(home.member_count, 3);
	assert_string_equal(home.members[0].host, "a");
	assert_int_equal(home.members[0].agents, 3);
	assert_string_equal(home.members[0].shell, "ssh -T");
	assert_string_equal(home.members[1].host, "user@b");
	assert_int_equal(home.members[1].agents, 0);
	assert_string_equal(home.members[2].host, "fe80::1");
}

static void a_host_that_is_there_is_changed(void **state)
{
	assert_int_equal(parse("a\nb\na agents=7\n"), 0);
	assert_int_equal(home.member_count, 2);
	assert_int_equal(fleet_members_find(&home, "a")->agents, 7);
	assert_null(fleet_members_find(&home, "nobody"));
}

static void bad_lines_are_named(void **state)
{
	static const char *const bad[][2] = {
		{ "a\n-oProxyCommand=x\n", "line 2: invalid host name '-oProxyCommand=x'" },
		{ "a;reboot", "line 1: invalid host name 'a;reboot'" },
		{ "$(x)", "line 1: invalid host name '$(x)'" },
		{ "a agents=", "line 1: invalid number of agents 'agents=' (expected 0 to 200)" },
		{ "a agents=-1", "line 1: invalid number of agents 'agents=-1' (expected 0 to 200)" },
		{ "a agents=2x", "line 1: invalid number of agents 'agents=2x' (expected 0 to 200)" },
		{ "a cpus=2", "line 1: invalid option 'cpus=2' (expected agents=N or label=NAME)" },
		{ "a label=x;y", "line 1: invalid label 'x;y' (allowed: letters, digits, ._-)" },
		{ "a label=", "line 1: invalid label '' (allowed: letters, digits, ._-)" },
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(parse(bad[i][0]), -EINVAL);
		assert_string_equal(err.text, bad[i][1]);
	}
}

static void a_home_remembers(void **state)
{
	struct fleet_dir again;
	struct stat st;
	char path[FS_TEMP_BYTES + 16];

	static const char address[] = "{\"url\":\"nats://x\",\"token\":\"t\"}";

	assert_int_equal(fleet_dir_join(&home, address, strlen(address), "here", &arena, &err), 0);
	assert_int_equal(parse("a agents=2 label=gpu,fast\nb"), 0);
	assert_int_equal(fleet_dir_save(&home, &err), 0);
	assert_int_equal(fleet_dir_load(&again, dir, &arena, &err), 0);
	assert_string_equal(again.url, "nats://x");
	assert_string_equal(again.token, "t");
	assert_string_equal(again.member, "here");
	assert_int_equal(again.member_count, 2);
	assert_string_equal(again.members[0].sonde, "/usr/bin/sonde");
	assert_int_equal(again.members[0].agents, 2);
	assert_string_equal(again.members[0].label, "gpu,fast");
	assert_null(again.members[1].label);
	snprintf(path, sizeof(path), "%s/fleet.json", dir);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
}

static void what_is_no_address_changes_nothing(void **state)
{
	static const char *const bad[] = { "", "x", "[]", "{\"url\":\"u\"}", "{\"url\":1,\"token\":\"t\"}" };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(fleet_dir_join(&home, bad[i], strlen(bad[i]), "here", &arena, &err), -EINVAL);
		assert_null(home.url);
		assert_null(home.member);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(lines_of_a_file, setup, teardown),
		cmocka_unit_test_setup_teardown(a_host_that_is_there_is_changed, setup, teardown),
		cmocka_unit_test_setup_teardown(bad_lines_are_named, setup, teardown),
		cmocka_unit_test_setup_teardown(a_home_remembers, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_no_address_changes_nothing, setup, teardown),
	};
	return RUN_TESTS(tests);
}
