/*
 * group, change, watchdog: actions on cgroups v2 and v1, in our own trees of files: where they write, what, and
 * what that means; what a group cannot do is refused; when the controller goes everything stands as it was.
 */
#include "../../support.h"

#include "base/fs.h"
#include "live/control/cgroup-write.h"
#include "live/control/change.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char dir[512];

static void put(const char *name, const char *text)
{
	char path[600];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

/* A file of the kernel's takes a write as a whole; ours keeps what is behind it. */
static void assert_begins(const char *name, const char *want)
{
	char path[600], text[128] = "";
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0 && read(fd, text, sizeof(text) - 1) >= 0);
	close(fd);
	if (strncmp(text, want, strlen(want)) != 0)
		fail_msg("%s has '%s', not '%s'", name, text, want);
}

static int set_up(void **state)
{
	return fs_temp_dir(dir, "sonde-unit-group", NULL);
}

static int tear_down(void **state)
{
	fs_remove_tree(AT_FDCWD, dir);
	return 0;
}

/* Everything in one hierarchy (v2), or each controller in its own (v1), which are all this directory here. */
static void make_map(struct cgroup_map *m, bool is_v2)
{
	memset(m, 0, sizeof(*m));
	for (size_t i = 0; i < CGROUP_CONTROLLERS; i++) {
		snprintf(m->base[i], sizeof(m->base[i]), "%s", dir);
		m->is_v2[i] = is_v2 || i == CGROUP_CORE;
	}
}

static const struct row {
	enum action_kind kind;
	double value;
	const char *file, *first, *text;
	double first_value;
} v2_rows[] = {
	{ ACTION_WEIGHT, 300, "cpu.weight", "100\n", "300", 100 },
	{ ACTION_CAP, 0.5, "cpu.max", "max 100000\n", "50000 100000", INFINITY },
	{ ACTION_IO, 300, "io.weight", "default 100\n", "default 300", 100 },
	{ ACTION_HIGH, 268435456, "memory.high", "max\n", "268435456", INFINITY },
	{ ACTION_MEMORY, 536870912, "memory.max", "max\n", "536870912", INFINITY },
	{ ACTION_PIDS, 100, "pids.max", "20\n", "100", 20 },
	{ ACTION_IO, 30000, "io.weight", "default 100\n", "default 10000", 100 },
	{ ACTION_FREEZE, 0, "cgroup.freeze", "0\n", "1", 0 },
	{ ACTION_THAW, 0, "cgroup.freeze", "1\n", "0", 1 },
}, v1_rows[] = {
	{ ACTION_WEIGHT, 300, "cpu.shares", "1024\n", "3072", 100 },
	{ ACTION_CAP, 0.5, "cpu.cfs_quota_us", "-1\n", "50000", INFINITY },
	{ ACTION_HIGH, 268435456, "memory.soft_limit_in_bytes", "1073741824\n", "268435456", 1073741824 },
	{ ACTION_MEMORY, 536870912, "memory.limit_in_bytes", "1073741824\n", "536870912", 1073741824 },
	{ ACTION_PIDS, 100, "pids.max", "max\n", "100", INFINITY },
	{ ACTION_IO, 300, "blkio.weight", "500\n", "1000", 100 },    /* of 1500, which it does not take */
	{ ACTION_IO, 300, "blkio.bfq.weight", "100\n", "300", 100 }, /* newer: before the other */
	{ ACTION_FREEZE, 0, "freezer.state", "THAWED\n", "FROZEN", INFINITY },
	{ ACTION_THAW, 0, "freezer.state", "FROZEN\n", "THAWED", INFINITY },
};

static void check_rows(const struct row *rows, size_t count, bool is_v2)
{
	struct cgroup_map m;

	make_map(&m, is_v2);
	for (size_t i = 0; i < count; i++) {
		struct sonde_err err = SONDE_ERR_INIT;
		struct change_place place;
		char text[CHANGE_TEXT_BYTES];
		double value;

		put(rows[i].file, rows[i].first);
		if (group_place(&m, rows[i].kind, &place, &err) < 0)
			fail_msg("%s: %s", rows[i].file, err.text);
		assert_string_equal(strrchr(place.path, '/') + 1, rows[i].file);
		assert_int_equal(change_read(&place, text), 0);
		value = group_value(&place, rows[i].kind, text);
		assert_true(value == rows[i].first_value || fabs(value - rows[i].first_value) < 0.01);
		group_text(&place, rows[i].kind, rows[i].value, text);
		assert_string_equal(text, rows[i].text);
		assert_int_equal(change_write(&place, text), 0);
		assert_begins(rows[i].file, rows[i].text);
	}
}

static void v2(void **state)
{
	check_rows(v2_rows, sizeof(v2_rows) / sizeof(v2_rows[0]), true);
}

static void v1(void **state)
{
	check_rows(v1_rows, sizeof(v1_rows) / sizeof(v1_rows[0]), false);
}

/* A hybrid machine's v2 has core files alone; a group without a controller says so, and nothing is made there. */
static void what_is_not_there(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct change_place place;
	struct cgroup_map m;
	char path[600];

	make_map(&m, true);
	assert_int_equal(group_place(&m, ACTION_WEIGHT, &place, &err), -ENOTSUP);
	assert_non_null(strstr(err.text, "does not support 'weight'"));
	snprintf(path, sizeof(path), "%s/cpu.weight", dir);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(group_place(&m, ACTION_KNOB, &place, &err), -EINVAL);
}

static void who_is_in_it(void **state)
{
	struct cgroup_map m;
	pid_t pids[4];

	make_map(&m, true);
	assert_int_equal(group_processes(&m, pids, 4), 0);
	put("cgroup.procs", "0\n1\n42\n43\nnonsense\n44\n"); /* 0: of another namespace; 1: never */
	assert_int_equal(group_processes(&m, pids, 4), 2);
	assert_int_equal(pids[0], 42);
	assert_int_equal(pids[1], 43);
}

static struct change_place place_of(const struct cgroup_map *m, enum action_kind kind)
{
	struct change_place place;

	assert_int_equal(group_place(m, kind, &place, NULL), 0);
	return place;
}

/* The watchdog writes the original values back when the controller exits; what it was made to forget stays. */
static void watchdog(void **state)
{
	struct sonde_err err = SONDE_ERR_INIT;
	struct change_place weight, cap, pids;
	struct cgroup_map m;
	struct watchdog w;

	make_map(&m, true);
	put("cpu.weight", "100\n");
	put("cpu.max", "max 100000\n");
	put("pids.max", "20\n");
	weight = place_of(&m, ACTION_WEIGHT);
	cap = place_of(&m, ACTION_CAP);
	pids = place_of(&m, ACTION_PIDS);
	assert_int_equal(watchdog_start(&w, 60000000000, &(struct journal)JOURNAL_INIT, &err), 0);
	assert_int_equal(watchdog_remember(&w, &weight, "100"), 0);
	assert_int_equal(watchdog_remember(&w, &weight, "300"), 0); /* the first counts */
	assert_int_equal(watchdog_remember(&w, &cap, "max 100000"), 0);
	assert_int_equal(watchdog_remember(&w, &pids, "20"), 0);
	assert_int_equal(watchdog_forget(&w, &pids), 0);
	assert_int_equal(change_write(&weight, "300"), 0);
	assert_int_equal(change_write(&cap, "500 100000"), 0);
	assert_int_equal(change_write(&pids, "99"), 0);
	assert_int_equal(watchdog_beat(&w), 0);
	watchdog_end(&w);
	assert_begins("cpu.weight", "100");
	assert_begins("cpu.max", "max 100000");
	assert_begins("pids.max", "99");
	assert_int_equal(watchdog_beat(&w), -EPIPE);
}

/* Where the board was there may be another file now, of another user even: it stays as it is. */
static void only_boards_have_knobs(void **state)
{
	static const char zeros[1 << 16];
	struct change_place place = { .kind = CHANGE_KNOB, .knob = 1 };
	char own[FS_TEMP_BYTES], text[CHANGE_TEXT_BYTES];
	struct buf now = BUF_INIT;

	(void)state;
	assert_int_equal(fs_temp_dir(own, "sonde-unit-knob", NULL), 0);
	snprintf(place.path, sizeof(place.path), "%.300s/board", own);
	assert_int_equal(fs_replace_file(AT_FDCWD, place.path, zeros, sizeof(zeros), NULL), 0);
	assert_int_equal(change_read(&place, text), -EBADMSG);
	assert_int_equal(change_write(&place, "00000000000000ff"), -EBADMSG);
	assert_int_equal(fs_read_file(AT_FDCWD, place.path, sizeof(zeros), &now, NULL), 0);
	assert_memory_equal(now.data, zeros, sizeof(zeros));
	buf_release(&now);
	fs_remove_tree(AT_FDCWD, own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(v2, set_up, tear_down),
		cmocka_unit_test_setup_teardown(v1, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_there, set_up, tear_down),
		cmocka_unit_test_setup_teardown(who_is_in_it, set_up, tear_down),
		cmocka_unit_test_setup_teardown(watchdog, set_up, tear_down),
		cmocka_unit_test(only_boards_have_knobs),
	};

	return RUN_TESTS(tests);
}
