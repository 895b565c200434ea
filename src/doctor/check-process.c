/*
 * Checks of what the kernel reports about processes (PSI, delay accounting) and lets this user do with them (read,
 * limit, put into namespaces).
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "doctor/checks.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <mntent.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

void check_ptrace(struct doctor_result *r)
{
	static const char *const meanings[] = {
		"a user's own processes can be read",
		"only processes that sonde started can be read (yama ptrace_scope is 1)",
		"only processes with CAP_SYS_PTRACE may read others (yama ptrace_scope is 2)",
		"no process may read others until the next boot (yama ptrace_scope is 3)",
	};
	long scope = 0;

	doctor_number("/proc/sys/kernel/yama/ptrace_scope", &scope);
	if (scope < 0 || scope > 3)
		scope = 3;
	doctor_report(r, scope == 0 ? DOCTOR_WORKS : scope == 1 ? DOCTOR_PARTLY : DOCTOR_NO, "%s", meanings[scope]);
	if (scope < 3 && doctor_has_capability(CAP_SYS_PTRACE))
		doctor_report(r, DOCTOR_WORKS, "CAP_SYS_PTRACE is available");
	else if (scope > 0)
		doctor_fix(r,
				scope == 3 ? "reboot with kernel.yama.ptrace_scope=1"
					   : "sudo sysctl kernel.yama.ptrace_scope=0");
}

void check_psi(struct doctor_result *r)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc = fs_read_file(AT_FDCWD, "/proc/pressure/cpu", 4096, &text, NULL);

	if (!rc) {
		doctor_report(r, DOCTOR_WORKS, "/proc/pressure exists");
		return;
	}
	doctor_report(r, DOCTOR_NO, "cannot read /proc/pressure/cpu: %s", strerror(-rc));
	doctor_fix(r, "boot with psi=1");
}

void check_delays(struct doctor_result *r)
{
	long is_on;

	if (!doctor_number("/proc/sys/kernel/task_delayacct", &is_on)) {
		doctor_report(r, DOCTOR_NO, "the kernel has no switch for it (CONFIG_TASK_DELAY_ACCT, Linux 5.14)");
		doctor_fix(r, "boot with delayacct");
	} else if (!is_on) {
		doctor_report(r, DOCTOR_NO, "kernel.task_delayacct is 0");
		doctor_fix(r, "sudo sysctl kernel.task_delayacct=1");
		r->setup_step = "delays";
	} else if (!doctor_has_capability(CAP_NET_ADMIN)) {
		doctor_report(r, DOCTOR_PARTLY, "on, but taskstats needs CAP_NET_ADMIN; /proc has block I/O delays");
		doctor_fix(r, "sudo sonde record ...");
	} else {
		doctor_report(r, DOCTOR_WORKS, "on, and taskstats is available");
	}
}

/* The mount point of a controller (NULL: of the unified hierarchy). */
static bool mount_point(const char *controller, struct buf *dir)
{
	FILE *mounts = setmntent("/proc/self/mounts", "re");
	struct mntent *m;

	if (!mounts)
		return false;
	while ((m = getmntent(mounts)))
		if (controller ? !strcmp(m->mnt_type, "cgroup") && hasmntopt(m, controller)
			       : !strcmp(m->mnt_type, "cgroup2"))
			break;
	if (m)
		buf_adds(dir, m->mnt_dir);
	endmntent(mounts);
	return m != NULL;
}

/* "4:cpu,cpuacct:/path" or, for the unified hierarchy, "0::/path". Returns the path if the line is the controller's. */
static const char *path_in_line(char *line, const char *controller)
{
	char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;

	if (!path)
		return NULL;
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	for (char *word, *rest = list + 1; controller && (word = strsep(&rest, ","));)
		if (strcmp(word, controller) == 0)
			return path;
	return controller || list[1] ? NULL : path;
}

/* Appends the cgroup of this process, unless its path belongs to another cgroup namespace. */
static void add_own_path(const char *controller, struct buf *dir)
{
	FILE *own = fopen("/proc/self/cgroup", "re");
	size_t root = dir->len;
	const char *path = NULL;
	char line[4096];

	while (own && !path && fgets(line, sizeof(line), own))
		path = path_in_line(line, controller);
	buf_adds(dir, path ? path : "");
	if (access(dir->data, F_OK) != 0)
		dir->data[dir->len = root] = '\0';
	if (own)
		fclose(own);
}

static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = text; (at = strstr(at, word)); at += len)
		if ((at == text || at[-1] == ' ') && strchr(" \n", at[len]))
			return true;
	return false;
}

static bool is_offered(const char *dir, const char *controller)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	CLEANUP(buf_release) struct buf words = BUF_INIT;

	buf_addf(&path, "%s/cgroup.controllers", dir);
	return fs_read_file(AT_FDCWD, path.data, 4096, &words, NULL) == 0 && has_word(words.data, controller);
}

/* Checks whether this user can create cgroups with the controller. Returns 0 and the directory, or a positive errno. */
static int try_controller(const char *controller, struct buf *where)
{
	CLEANUP(buf_release) struct buf dir = BUF_INIT;
	bool is_v1 = mount_point(controller, &dir);

	if (!is_v1 && !mount_point(NULL, &dir))
		return ENOENT;
	add_own_path(is_v1 ? controller : NULL, &dir);
	if (!is_v1 && !is_offered(dir.data, controller))
		return ENODEV;
	if (access(dir.data, W_OK) != 0)
		return errno;
	buf_addf(where, "%s%s (%s)", where->len ? ", " : "", controller, is_v1 ? "v1" : "v2");
	return 0;
}

void check_cgroups(struct doctor_result *r)
{
	static const char *const wanted[] = { "cpu", "memory" };
	CLEANUP(buf_release) struct buf where = BUF_INIT;
	int error = 0, failed = 0;

	for (int i = 0; i < 2; i++) {
		int e = try_controller(wanted[i], &where);

		failed += e != 0;
		error = e ? e : error;
	}
	if (!failed) {
		doctor_report(r, DOCTOR_WORKS, "writable: %s", where.data);
		return;
	}
	doctor_report(r, failed == 1 ? DOCTOR_PARTLY : DOCTOR_NO, "%s%s%s", where.data,
			where.len ? " only; the other: " : "",
			error == ENODEV ? "the controllers are not delegated to this group" : strerror(error));
	doctor_fix(r,
			geteuid() ? "systemd-run --user --scope -p Delegate=yes sonde record ..."
				  : "sudo mount -t cgroup2 cgroup2 /sys/fs/cgroup");
}

static void write_text(const char *path, const char *text)
{
	CLEANUP(cleanup_fd) int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd >= 0)
		(void)!write(fd, text, strlen(text));
}

enum sandbox_step {
	SANDBOX_WORKS,
	SANDBOX_UNSHARE,
	SANDBOX_PRIVATE,
	SANDBOX_TMPFS,
	SANDBOX_OVERLAY,
	SANDBOX_ONLY_PARTS
};

static bool mount_overlay(const char *lower)
{
	char options[128];

	snprintf(options, sizeof(options), "lowerdir=%s,upperdir=/tmp/upper,workdir=/tmp/work", lower);
	return mount("overlay", "/tmp/merged", "overlay", 0, options) == 0;
}

/* Runs in a child, in a private mount namespace that ends with it. Returns the step that failed, and sets errno. */
static enum sandbox_step try_overlay(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int error;

	if (unshare(CLONE_NEWNS | (uid ? CLONE_NEWUSER : 0)) != 0)
		return SANDBOX_UNSHARE;
	if (uid) {
		/* Maps our single user and group ID to root of a new user namespace. */
		char text[64];

		write_text("/proc/self/setgroups", "deny");
		snprintf(text, sizeof(text), "0 %u 1", (unsigned)uid);
		write_text("/proc/self/uid_map", text);
		snprintf(text, sizeof(text), "0 %u 1", (unsigned)gid);
		write_text("/proc/self/gid_map", text);
	}
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return SANDBOX_PRIVATE;
	if (mount("tmpfs", "/tmp", "tmpfs", 0, "size=1m") != 0)
		return SANDBOX_TMPFS;
	mkdir("/tmp/upper", 0700);
	mkdir("/tmp/work", 0700);
	mkdir("/tmp/merged", 0700);
	if (mount_overlay("/"))
		return SANDBOX_WORKS;
	error = errno;
	if (mount_overlay("/usr")) {
		errno = error;
		return SANDBOX_ONLY_PARTS;
	}
	return SANDBOX_OVERLAY;
}

/* Runs try_overlay in a child; answer receives its step and errno. */
static int query_child(int answer[2])
{
	int ends[2];
	pid_t pid;
	ssize_t n;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	CLEANUP(cleanup_fd) int output = ends[0];
	CLEANUP(cleanup_fd) int input = ends[1];
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		answer[0] = try_overlay();
		answer[1] = errno;
		(void)!write(input, answer, 2 * sizeof(*answer));
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	n = read(output, answer, 2 * sizeof(*answer));
	return n == 2 * sizeof(*answer) ? 0 : -EIO;
}

void check_sandbox(struct doctor_result *r)
{
	static const char *const steps[] = {
		[SANDBOX_UNSHARE] = "a new namespace",
		[SANDBOX_PRIVATE] = "private mounts",
		[SANDBOX_TMPFS] = "a tmpfs",
		[SANDBOX_OVERLAY] = "an overlay",
	};
	int answer[2] = { SANDBOX_WORKS, 0 };
	int rc = query_child(answer);

	if (rc) {
		doctor_report(r, DOCTOR_NO, "cannot try: %s", strerror(-rc));
		return;
	}
	if (answer[0] == SANDBOX_WORKS) {
		doctor_report(r, DOCTOR_WORKS, "an overlay over / mounts in a private namespace");
		return;
	}
	if (answer[0] == SANDBOX_ONLY_PARTS) {
		doctor_report(r, DOCTOR_WORKS, "in a user namespace, with an overlay over each directory of /");
		return;
	}
	doctor_report(r, DOCTOR_NO, "%s is refused: %s", steps[answer[0]], strerror(answer[1]));
	if (geteuid() == 0)
		doctor_fix(r, "in a container: --privileged");
	else if (answer[0] == SANDBOX_UNSHARE)
		doctor_fix(r, "sudo sysctl kernel.unprivileged_userns_clone=1 user.max_user_namespaces=15000");
	else
		doctor_fix(r, "sudo sonde record ...");
}
