/* place: control groups and sandboxes: limits hold, ends are exact, and nothing of them stays. */
#include "jobs.h"

#include "base/clock.h"
#include "base/fs.h"
#include "launch/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const enum job_isolation_kind kinds[] = { JOB_CGROUP, JOB_SANDBOX };
#define FOR_EACH_KIND(k) for (const enum job_isolation_kind *k = kinds; k < kinds + 2; k++)

/* cmocka's TAP counts its own skip as a failure: a test that cannot run says so and returns. In CI it has to run. */
static bool is_missing(const struct job_isolation *place)
{
	struct sonde_err err = SONDE_ERR_INIT;
	const char *ci = getenv("CI");
	if (!job_isolation_check(place, &err))
		return false;
	print_message("# SKIP %s\n", err.text);
	assert_false(ci && !strcmp(ci, "true"));
	return true;
}

/* Of sandboxes, that is: others may mount what they like meanwhile. */
static bool has_mounts(void)
{
	struct buf text = BUF_INIT;
	assert_int_equal(fs_read_file(AT_FDCWD, "/proc/self/mountinfo", 1 << 22, &text, NULL), 0);
	bool is_there = strstr(text.data, "upperdir=/proc/u");
	buf_release(&text);
	return is_there;
}

/* What was there is gone: the leaf's directory, in every hierarchy. */
static void assert_no_leaf(void)
{
	struct cgroup_map map;
	const struct job_limits none = { 0 };
	char path[700];
	if (cgroup_map_find(&map, &none, NULL))
		return;
	for (int i = 0; i < CGROUP_CONTROLLERS; i++)
		for (int number = 0; *map.base[i] && number < 256; number++) {
			snprintf(path, sizeof(path), "%s/sonde-%d-%d", map.base[i], (int)getpid(), number);
			assert_int_equal(access(path, F_OK), -1);
		}
}

static void ends_are_exact(void **state)
{
	static const char *const lines[] = { "exit 0", "exit 42", "exit 255", "kill -KILL $$", "kill -TERM $$" };
	static const int want[] = { 0, 42 << 8, 255 << 8, SIGKILL, SIGTERM };
	FOR_EACH_KIND(kind)
	{
		struct job_isolation place = { .kind = *kind };
		struct job_spec spec = JOB_SPEC_INIT;
		if (is_missing(&place))
			return;
		spec.place = &place;
		for (size_t i = 0; i < 5; i++) {
			/* In a sandbox "sh" is not process 1, which no signal of its own would kill. */
			spec.argv = ARGV("sh", "-c", lines[i]);
			assert_int_equal(waited(started(&spec)), want[i]);
		}
	}
	assert_false(has_mounts());
	assert_int_equal(children_of_ours(), 0);
	assert_no_leaf();
}

static void failures_are_the_commands(void **state)
{
	FOR_EACH_KIND(kind)
	{
		struct job_isolation place = { .kind = *kind };
		struct job_spec spec = JOB_SPEC_INIT;
		struct sonde_err err = SONDE_ERR_INIT;
		struct job *j = NULL;
		if (is_missing(&place))
			return;
		spec.place = &place;
		spec.argv = ARGV("/no/such/program");
		assert_int_equal(job_start(&j, &spec, &err), -ENOENT);
		assert_null(j);
	}
	assert_no_leaf();
}

static void a_deaf_daemon_is_ended(void **state)
{
	const struct job_ladder ladder = { 20000000, 20000000 };
	FOR_EACH_KIND(kind)
	{
		struct job_isolation place = { .kind = *kind };
		struct job_spec spec = JOB_SPEC_INIT;
		struct sonde_err err = SONDE_ERR_INIT;
		if (is_missing(&place))
			return;
		spec.place = &place;
		spec.argv = ARGV(ACTS, "daemon");
		struct heard h = heard_start(&spec);
		free(heard_line(&h));
		assert_ok(job_wait(h.job, FOR_EVER, &err), &err);
		assert_ok(job_end(h.job, &ladder, &err), &err);
		job_free(h.job);
		close(h.out);
	}
	assert_int_equal(children_of_ours(), 0);
	assert_no_leaf();
}

static void the_host_knows_its_pid(void **state)
{
	FOR_EACH_KIND(kind)
	{
		struct job_isolation place = { .kind = *kind };
		struct job_spec spec = JOB_SPEC_INIT;
		struct sonde_err err = SONDE_ERR_INIT;
		if (is_missing(&place))
			return;
		spec.place = &place;
		spec.argv = ARGV("sleep", "1000");
		struct job *j = started(&spec);
		assert_true(is_alive(job_pid(j)));
		assert_int_equal(kill(job_pid(j), SIGUSR2), 0);
		assert_ok(job_wait(j, FOR_EVER, &err), &err);
		assert_int_equal(job_status(j), SIGUSR2);
		job_free(j);
	}
}

static void many_short_children_count(void **state)
{
	struct job_isolation place = { .kind = JOB_CGROUP };
	struct job_spec spec = JOB_SPEC_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	struct job_usage usage;
	if (is_missing(&place))
		return;
	spec.place = &place;
	spec.argv = ARGV(ACTS, "many");
	struct heard h = heard_start(&spec);
	char *line = heard_line(&h);
	double own_ns = strtod(line, NULL);
	assert_ok(job_wait(h.job, FOR_EVER, &err), &err);
	job_usage(h.job, &usage);
	double told_ns = (double)(usage.user_ns + usage.system_ns);
	/* Their own account begins after the fork and ends before the exit: the group's is more, by what those cost. */
	print_message("# 1000 children: %.1f ms by their own account, %.1f ms by the group's\n", own_ns / 1e6,
			told_ns / 1e6);
	assert_true(told_ns >= own_ns * 0.99);
	assert_true(told_ns <= own_ns * 2);
	free(line);
	close(h.out);
	job_free(h.job);
}

/* The kernel's other account of the same processes: both are exact. */
static void the_group_and_the_reaper_agree(void **state)
{
	struct job_isolation group = { .kind = JOB_CGROUP };
	struct job_spec spec = JOB_SPEC_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	struct job_usage usage;
	if (is_missing(&group))
		return;
	char line[9000];
	spec.place = &group;
	snprintf(line, sizeof(line), "bash -c '%s many >/dev/null; times' | tail -1 | tr -d s", ACTS);
	spec.argv = ARGV("bash", "-c", line);
	struct heard h = heard_start(&spec);
	char *said = heard_line(&h);
	double user_min, user_s, system_min, system_s;
	assert_int_equal(sscanf(said, "%lfm%lf %lfm%lf", &user_min, &user_s, &system_min, &system_s), 4);
	double waited_ns = ((user_min + system_min) * 60 + user_s + system_s) * 1e9;
	assert_ok(job_wait(h.job, FOR_EVER, &err), &err);
	job_usage(h.job, &usage);
	double told_ns = (double)(usage.user_ns + usage.system_ns);
	print_message("# by the reaper %.0f ms, by the group %.0f ms with three shells more\n", waited_ns / 1e6,
			told_ns / 1e6);
	assert_true(told_ns >= waited_ns * 0.99);
	assert_true(told_ns <= waited_ns * 1.01 + 100e6);
	free(said);
	close(h.out);
	job_free(h.job);
}

static void too_much_memory_is_told(void **state)
{
	FOR_EACH_KIND(kind)
	{
		struct job_isolation place = { .kind = *kind, .limits = { .memory_bytes = 64 << 20 } };
		struct job_spec spec = JOB_SPEC_INIT;
		struct sonde_err err = SONDE_ERR_INIT;
		struct job_usage usage;
		if (is_missing(&place))
			return;
		spec.place = &place;
		spec.argv = ARGV(ACTS, "grow");
		struct job *j = started(&spec);
		assert_ok(job_wait(j, FOR_EVER, &err), &err);
		assert_int_equal(job_status(j), SIGKILL);
		job_usage(j, &usage);
		assert_true(usage.oom_kills >= 1);
		assert_true(usage.max_rss_bytes > 32 << 20 && usage.max_rss_bytes <= 64 << 20);
		job_free(j);
	}
}

static void processes_are_limited(void **state)
{
	FOR_EACH_KIND(kind)
	{
		struct job_isolation place = { .kind = *kind, .limits = { .pids = 20 } };
		struct job_spec spec = JOB_SPEC_INIT;
		if (is_missing(&place))
			return;
		spec.place = &place;
		spec.argv = ARGV(ACTS, "bomb");
		struct heard h = heard_start(&spec);
		char *line = heard_line(&h);
		assert_string_equal(line, "19");
		free(line);
		close(h.out);
		job_free(h.job);
	}
	assert_int_equal(children_of_ours(), 0);
	assert_no_leaf();
}

static int64_t number_in(const char *dir, const char *file)
{
	char path[700];
	struct buf text = BUF_INIT;
	snprintf(path, sizeof(path), "%s/%s", dir, file);
	int rc = fs_read_file(AT_FDCWD, path, 4096, &text, NULL);
	int64_t value = rc ? -2 : strtoll(text.data, NULL, 10);
	buf_release(&text);
	return value;
}

static void limits_change_while_it_runs(void **state)
{
	struct cgroup_map map;
	struct cgroup_leaf leaf;
	struct sonde_err err = SONDE_ERR_INIT;
	struct job_limits limits = { .cpus = 0.5, .cpu_weight = 200, .memory_bytes = 128 << 20, .pids = 7 };
	if (cgroup_map_find(&map, &limits, &err)) {
		print_message("# SKIP %s\n", err.text);
		return;
	}
	assert_ok(cgroup_leaf_make(&leaf, &limits, &err), &err);
	for (int pass = 0; pass < 2; pass++) {
		bool is_v2 = leaf.is_v2[CGROUP_CPU];
		assert_int_equal(number_in(leaf.dir[CGROUP_CPU], is_v2 ? "cpu.max" : "cpu.cfs_quota_us"),
				pass ? 150000 : 50000);
		assert_int_equal(number_in(leaf.dir[CGROUP_CPU], is_v2 ? "cpu.weight" : "cpu.shares"),
				is_v2 ? 200 : 2048);
		assert_int_equal(number_in(leaf.dir[CGROUP_MEMORY],
						 leaf.is_v2[CGROUP_MEMORY] ? "memory.max" : "memory.limit_in_bytes"),
				pass ? 256 << 20 : 128 << 20);
		assert_int_equal(number_in(leaf.dir[CGROUP_PIDS], "pids.max"), 7);
		limits.cpus = 1.5;
		limits.memory_bytes = 256 << 20;
		assert_ok(cgroup_leaf_limit(&leaf, &limits, &err), &err);
	}
	assert_ok(cgroup_leaf_remove(&leaf, &err), &err);
	assert_no_leaf();
}

static void what_it_writes_vanishes(void **state)
{
	struct job_isolation place = { .kind = JOB_SANDBOX };
	struct job_spec spec = JOB_SPEC_INIT;
	if (is_missing(&place))
		return;
	char dir[] = "/tmp/sonde-place.XXXXXX", file[64];
	assert_non_null(mkdtemp(dir));
	struct job_mount mount = { .source = dir, .target = "/mnt/through" };
	snprintf(file, sizeof(file), "%s/kept", dir);
	place.mounts = &mount;
	place.mount_count = 1;
	spec.place = &place;
	spec.argv = ARGV("sh", "-ec",
			"cd /; echo x > /usr/sonde-vanishes; rm -r /etc/passwd; echo y > /mnt/through/kept;"
			"test ! -e /etc/passwd; cat /usr/sonde-vanishes; echo $$; ls -d /proc/[0-9]* | wc -l");
	struct heard h = heard_start(&spec);
	char *text = heard_text(&h);
	assert_int_equal(waited(h.job), 0);
	int pid, processes;
	assert_int_equal(sscanf(text, "x\n%d\n%d\n", &pid, &processes), 2);
	assert_true(pid < 10 && processes < 10);
	free(text);
	assert_int_equal(access("/usr/sonde-vanishes", F_OK), -1);
	assert_int_equal(access("/etc/passwd", F_OK), 0);
	assert_int_equal(access("/mnt/through", F_OK), -1);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(rmdir(dir), 0);
}

static void mounts_may_be_read_only(void **state)
{
	struct job_mount mount = { .source = "/etc/passwd", .target = "/somewhere/new/passwd", .is_read_only = true };
	struct job_isolation place = { .kind = JOB_SANDBOX, .mounts = &mount, .mount_count = 1 };
	struct job_spec spec = JOB_SPEC_INIT;
	if (is_missing(&place))
		return;
	spec.place = &place;
	spec.fds[2] = JOB_FD_NULL;
	spec.argv = ARGV("sh", "-c", "test -s /somewhere/new/passwd && ! (echo x >> /somewhere/new/passwd)");
	assert_int_equal(waited(started(&spec)), 0);
	assert_int_equal(access("/somewhere", F_OK), -1);
}

/* Links in a root were made for that root: nothing is made outside of it. */
static void a_hostile_root_leads_nowhere(void **state)
{
	char dir[] = "/tmp/sonde-place.XXXXXX", path[64], outside[64];
	struct job_mount mount = { .source = "/etc", .target = "/mnt/made", .is_read_only = true };
	struct job_isolation place = { .kind = JOB_SANDBOX, .root = path, .mounts = &mount, .mount_count = 1 };
	struct job_spec spec = JOB_SPEC_INIT;
	struct job *job = NULL;
	assert_non_null(mkdtemp(dir));
	snprintf(outside, sizeof(outside), "%s/outside", dir);
	assert_int_equal(mkdir(outside, 0755), 0);
	snprintf(path, sizeof(path), "%s/root", dir);
	assert_int_equal(mkdir(path, 0755), 0);
	snprintf(path, sizeof(path), "%s/root/mnt", dir);
	assert_int_equal(symlink(outside, path), 0);
	snprintf(path, sizeof(path), "%s/root", dir);
	spec.place = &place;
	spec.argv = ARGV("true");
	if (!is_missing(&place)) {
		assert_int_not_equal(job_start(&job, &spec, NULL), 0); /* there is nothing to run in it either */
		snprintf(outside, sizeof(outside), "%s/outside/made", dir);
		assert_int_equal(access(outside, F_OK), -1);
	}
	assert_int_equal(fs_remove_tree(AT_FDCWD, dir), 0);
}

static void a_network_of_its_own(void **state)
{
	struct job_isolation place = { .kind = JOB_SANDBOX, .has_own_network = true };
	struct job_spec spec = JOB_SPEC_INIT;
	if (is_missing(&place))
		return;
	spec.place = &place;
	spec.argv = ARGV("sh", "-c",
			"sed -n 's/^ *\\([a-z0-9]*\\):.*/\\1/p' /proc/net/dev; cat /sys/class/net/lo/operstate "
			">/dev/null; "
			"grep -c 7F000001\\\\\\|0100007F /proc/net/fib_trie >/dev/null; grep 127.0.0.1 "
			"/proc/net/fib_trie | head -1 | tr -d ' |-'");
	struct heard h = heard_start(&spec);
	char *text = heard_text(&h);
	assert_int_equal(waited(h.job), 0);
	assert_string_equal(text, "lo\n127.0.0.1\n"); /* an address that is there only when the device is up */
	free(text);
}

static void start_in_its_directory(void **state)
{
	struct job_isolation place = { .kind = JOB_SANDBOX };
	struct job_spec spec = JOB_SPEC_INIT;
	char cwd[4096];
	if (is_missing(&place))
		return;
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	spec.place = &place;
	spec.argv = ARGV("pwd");
	struct heard h = heard_start(&spec);
	char *line = heard_line(&h);
	assert_string_equal(line, cwd);
	free(line);
	close(h.out);
	assert_int_equal(waited(h.job), 0);
}

/* The leaf of the dead waits for the next run to remove it: it is empty. */
static void remove_leaves_of(pid_t pid)
{
	struct cgroup_map map;
	const struct job_limits none = { 0 };
	char path[700];
	assert_int_equal(cgroup_map_find(&map, &none, NULL), 0);
	for (int i = 0; i < CGROUP_CONTROLLERS; i++)
		for (int number = 0; *map.base[i] && number < 256; number++) {
			snprintf(path, sizeof(path), "%s/sonde-%d-%d", map.base[i], (int)pid, number);
			for (int try = 0; try < 2000 && rmdir(path) && errno == EBUSY; try++)
				usleep(5000);
			assert_int_equal(access(path, F_OK), -1);
		}
}

static void our_death_ends_it(void **state)
{
	FOR_EACH_KIND(kind)
	{
		struct job_isolation place = { .kind = *kind };
		int ends[2];
		if (is_missing(&place))
			return;
		assert_int_equal(pipe(ends), 0);
		pid_t pid = fork();
		if (!pid) {
			struct job_spec spec = JOB_SPEC_INIT;
			struct job *j;
			spec.place = &place;
			spec.argv = ARGV(ACTS, "daemon");
			spec.fds[1] = spec.fds[2] = ends[1];
			spec.inherit = &ends[1];
			spec.inherit_count = 1;
			_exit(job_start(&j, &spec, NULL) ? 1 : (pause(), 0));
		}
		close(ends[1]);
		struct heard h = { .out = ends[0] };
		free(heard_line(&h));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		free(heard_text(&h)); /* ends when the last of it has gone */
		remove_leaves_of(pid);
	}
}

static void hybrid_and_pure_are_understood(void **state)
{
	struct cgroup_map m;
	cgroup_map_parse(&m,
			"30 25 0:26 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
			"31 25 0:27 /docker/abc /sys/fs/cgroup/memory rw shared:9 - cgroup cgroup rw,memory\n"
			"32 25 0:28 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			"4:cpu,cpuacct:/user.slice\n3:memory:/docker/abc/x\n0::/user.slice/s\n");
	assert_string_equal(m.base[CGROUP_CPU], "/sys/fs/cgroup/cpu,cpuacct/user.slice");
	assert_string_equal(m.base[CGROUP_CPUACCT], "/sys/fs/cgroup/cpu,cpuacct/user.slice");
	assert_string_equal(m.base[CGROUP_MEMORY], "/sys/fs/cgroup/memory/x");
	assert_string_equal(m.base[CGROUP_CORE], "/sys/fs/cgroup/unified/user.slice/s");
	assert_string_equal(m.base[CGROUP_PIDS], "");
	cgroup_map_parse(&m, "32 25 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n", "0::/\n");
	assert_string_equal(m.base[CGROUP_CORE], "/sys/fs/cgroup");
	assert_true(m.is_v2[CGROUP_CORE]);
	assert_string_equal(m.base[CGROUP_CPU], "");
	cgroup_map_parse(&m, "nonsense\n - \n1 2 3\n", ":\n::\n");
	for (int i = 0; i < CGROUP_CONTROLLERS; i++)
		assert_string_equal(m.base[i], "");
}

/* As an ordinary user: what cannot be had is refused with the reason and the next step. */
static void ordinary_users_are_told(void **state)
{
	if (geteuid()) {
		print_message("# SKIP only root can become an ordinary user\n");
		return;
	}
	pid_t pid = fork();
	if (!pid) {
		struct sonde_err err = SONDE_ERR_INIT;
		struct job_isolation place = { .kind = JOB_CGROUP, .limits = { .memory_bytes = 1 << 20 } };
		if (setgid(65534) || setuid(65534) || prctl(PR_SET_DUMPABLE, 1))
			_exit(1);
		int rc = job_isolation_check(&place, &err);
		_exit(rc && strstr(err.text, "cannot create a cgroup") && strstr(err.hint, "root") ? 0 : 2);
	}
	int status;
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

static void ordinary_users_may_have_a_sandbox(void **state)
{
	if (geteuid()) {
		print_message("# SKIP only root can become an ordinary user\n");
		return;
	}
	pid_t pid = fork();
	if (!pid) {
		struct sonde_err err = SONDE_ERR_INIT;
		struct job_isolation place = { .kind = JOB_SANDBOX };
		struct job_spec spec = JOB_SPEC_INIT;
		struct job *j = NULL;
		spec.place = &place;
		spec.cwd = "/";
		spec.argv = ARGV("sh", "-ec", "test $(id -u) = 65534; echo x > /tmp/sonde-vanishes; exit 5");
		if (setgid(65534) || setuid(65534) || prctl(PR_SET_DUMPABLE, 1))
			_exit(1);
		int rc = job_start(&j, &spec, &err);
		if (rc)
			_exit(*err.text && *err.hint ? 77 : (print_message("# %s\n", err.text), 2));
		_exit(job_wait(j, FOR_EVER, &err) || job_status(j) != 5 << 8 ? 3 : 0);
	}
	int status;
	waitpid(pid, &status, 0);
	if (WEXITSTATUS(status) == 77) {
		print_message("# ordinary users cannot have a sandbox here, and were told why\n");
		return;
	}
	assert_int_equal(status, 0);
	assert_int_equal(access("/tmp/sonde-vanishes", F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hybrid_and_pure_are_understood),
		cmocka_unit_test(ends_are_exact),
		cmocka_unit_test(failures_are_the_commands),
		cmocka_unit_test(a_deaf_daemon_is_ended),
		cmocka_unit_test(the_host_knows_its_pid),
		cmocka_unit_test(many_short_children_count),
		cmocka_unit_test(the_group_and_the_reaper_agree),
		cmocka_unit_test(too_much_memory_is_told),
		cmocka_unit_test(processes_are_limited),
		cmocka_unit_test(limits_change_while_it_runs),
		cmocka_unit_test(what_it_writes_vanishes),
		cmocka_unit_test(mounts_may_be_read_only),
		cmocka_unit_test(a_hostile_root_leads_nowhere),
		cmocka_unit_test(a_network_of_its_own),
		cmocka_unit_test(start_in_its_directory),
		cmocka_unit_test(our_death_ends_it),
		cmocka_unit_test(ordinary_users_are_told),
		cmocka_unit_test(ordinary_users_may_have_a_sandbox),
	};
	return RUN_TESTS(tests);
}
