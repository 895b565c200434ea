/*
 * The steps: values of /proc/sys files, and a mount.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define VALUE_BYTES_MAX 256

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

const struct setup_step setup_steps[] = {
	{ "perf", "let users sample their programs and the kernel on their behalf",
			"/proc/sys/kernel/perf_event_paranoid", "1", is_at_most, sysctl_read, sysctl_write },
	{ "tracefs", "mount tracefs, which numbers the kernel's tracepoints", "/sys/kernel/tracing", mounted, is_equal,
			tracefs_read, tracefs_write },
	{ "delays", "account the delays of tasks by cause", "/proc/sys/kernel/task_delayacct", "1", is_equal,
			sysctl_read, sysctl_write },
	{ NULL },
};
