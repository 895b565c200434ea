/*
 * The steps: values of /proc/sys files, a mount, and the right of a helper.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/setup.h"
#include "probe/probe.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#define VALUE_BYTES_MAX 256
#define NOBODY 65534

static bool is_at_most(const struct setup_step *step, const char *now)
{
	return strtol(now, NULL, 10) <= strtol(step->wanted, NULL, 10);
}

static bool is_equal(const struct setup_step *step, const char *now)
{
	return strcmp(now, step->wanted) == 0;
}

static int sysctl_read(const struct setup_step *step, const char *path, struct buf *now, struct sonde_err *err)
{
	int rc = fs_read_file(AT_FDCWD, path, VALUE_BYTES_MAX, now, err);

	if (rc)
		return rc;
	while (now->len && strchr(" \t\n", now->data[now->len - 1]))
		now->data[--now->len] = '\0';
	return 0;
}

static int sysctl_write(const struct setup_step *step, const char *path, const char *value, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	int rc = fd < 0 ? -errno : fs_write_all(fd, value, strlen(value));

	return rc ? err_sys(err, -rc, "cannot write '%s' to '%s'", value, path) : 0;
}

static const char mounted[] = "mounted";
static const char not_mounted[] = "not mounted";

static int tracefs_read(const struct setup_step *step, const char *path, struct buf *now, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf events = BUF_INIT;

	if (access(path, F_OK) != 0)
		return err_sys(err, errno, "cannot find '%s'", path);
	buf_addf(&events, "%s/events", path);
	buf_adds(now, access(events.data, F_OK) == 0 ? mounted : not_mounted);
	return 0;
}

static int tracefs_write(const struct setup_step *step, const char *path, const char *value, struct sonde_err *err)
{
	if (strcmp(value, mounted) == 0) {
		if (mount("tracefs", path, "tracefs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0)
			return err_sys(err, errno, "cannot mount tracefs on '%s'", path);
	} else if (umount2(path, UMOUNT_NOFOLLOW) != 0) {
		return err_sys(err, errno, "cannot unmount '%s'", path);
	}
	return 0;
}

/* A program's right, as the kernel keeps it beside the file. */

#define RIGHT_NAME "security.capability"

static const char has_right[] = "cap_net_raw";
static const char no_right[] = "none";

static int right_read(const struct setup_step *step, const char *path, struct buf *now, struct sonde_err *err)
{
	struct vfs_ns_cap_data right = { 0 };
	ssize_t n = getxattr(path, RIGHT_NAME, &right, sizeof(right));

	if (n < 0 && errno != ENODATA && errno != EOPNOTSUPP)
		return err_sys(err, errno, "cannot read the rights of '%s'", path);
	if (n > 0)
		buf_adds(now,
				le32toh(right.data[0].permitted) == 1u << CAP_NET_RAW && !right.data[1].permitted
						? has_right
						: "others");
	else
		buf_adds(now, no_right);
	return 0;
}

static int right_write(const struct setup_step *step, const char *path, const char *value, struct sonde_err *err)
{
	struct vfs_cap_data right = { .magic_etc = htole32(VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE),
		.data[0].permitted = htole32(1u << CAP_NET_RAW) };
	int rc = strcmp(value, has_right) == 0 ? setxattr(path, RIGHT_NAME, &right, sizeof(right), 0)
					       : removexattr(path, RIGHT_NAME);

	return rc ? err_sys(err, errno, "cannot set the rights of '%s'", path) : 0;
}

/* As nobody: does the helper give us a socket? In a child, whose rights are gone for good. */
static int right_verify(struct sonde_err *err)
{
	int status = 0;
	pid_t child = fork();

	if (child == 0) {
		int fd = setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY)
				? -EPERM
				: probe_packet_socket(NULL);

		_exit(fd < 0);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return err_sys(err, errno, "cannot try the packet socket");
	if (status == 0)
		return 0;
	err_set(err, EPERM, "the right is set, but an ordinary user's try failed");
	err_hint(err, "a file system mounted nosuid ignores rights, and so does a directory that users may not enter");
	return -EPERM;
}

const struct setup_step setup_steps[] = {
	{ "perf", "let users sample their programs and the kernel on their behalf",
			"/proc/sys/kernel/perf_event_paranoid", false, "1", is_at_most, sysctl_read, sysctl_write,
			NULL },
	{ "tracefs", "mount tracefs, which numbers the kernel's tracepoints", "/sys/kernel/tracing", false, mounted,
			is_equal, tracefs_read, tracefs_write, NULL },
	{ "delays", "account the delays of tasks by cause", "/proc/sys/kernel/task_delayacct", false, "1", is_equal,
			sysctl_read, sysctl_write, NULL },
	{ "packets", "let users capture headers of packets, by a helper that can do nothing else", PROBE_CAPTURE_HELPER,
			true, has_right, is_equal, right_read, right_write, right_verify },
	{ NULL },
};
