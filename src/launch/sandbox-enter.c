/* Becoming process 1 of a sandbox; see sandbox.h. Nothing here allocates. */
#include "launch/sandbox-private.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ssize_t n = write(fd, text, strlen(text));
	int rc = n < 0 ? -errno : 0;
	close(fd);
	return rc;
}

/* The same user within as without. */
static int take_ids(const struct sandbox *s)
{
	if (!s->is_ordinary)
		return 0;
	write_file("/proc/self/setgroups", "deny");
	int rc = write_file("/proc/self/uid_map", s->uid_map);
	return rc ? rc : write_file("/proc/self/gid_map", s->gid_map);
}

static int make_scratch(const struct sandbox *s)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
			mount("tmpfs", SANDBOX_SCRATCH, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") ||
			mkdir(SANDBOX_ROOT, 0755))
		return -errno;
	/* A root has to be mounted; that of parts is a directory that they are put into. */
	return s->is_parted && mount("tmpfs", SANDBOX_ROOT, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") ? -errno : 0;
}

/* Every directory of the path that is missing, and the last as a file when it shall be one. */
static int make_target(const char *path, bool is_file)
{
	char part[PATH_MAX];
	size_t n = strlen(path);
	if (n >= sizeof(part))
		return -ENAMETOOLONG;
	memcpy(part, path, n + 1);
	for (char *c = part + sizeof(SANDBOX_ROOT); *c; c++)
		if (*c == '/') {
			*c = '\0';
			if (mkdir(part, 0755) && errno != EEXIST)
				return -errno;
			*c = '/';
		}
	int fd = is_file ? open(part, O_WRONLY | O_CREAT | O_CLOEXEC, 0644) : -1;
	if (fd >= 0)
		close(fd);
	return !is_file && mkdir(part, 0755) && errno != EEXIST ? -errno : 0;
}

static int bind_mount(const char *source, const char *target, bool is_file, bool is_read_only)
{
	int rc = make_target(target, is_file);
	if (!rc && mount(source, target, NULL, MS_BIND | MS_REC, NULL))
		rc = -errno;
	/* In a user namespace flags that were there may not go; those that matter are kept. */
	if (!rc && is_read_only && mount(NULL, target, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) &&
			mount(NULL, target, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NODEV, NULL))
		rc = -errno;
	return rc;
}

/* The new top directory is to look like the one below it. */
static void look_like(const char *upper, const char *lower)
{
	struct stat st;
	if (stat(lower, &st))
		return;
	if (chown(upper, st.st_uid, st.st_gid))
		return; /* an id that has no name in here: it stays ours */
	chmod(upper, st.st_mode & 07777);
}

static int overlay(const struct sandbox_layer *l)
{
	int rc = l->target[sizeof(SANDBOX_ROOT) - 1] ? make_target(l->target, false) : 0;
	if (rc)
		return rc;
	if (mkdir(l->upper, 0755) || mkdir(l->work, 0755))
		return -errno;
	look_like(l->upper, l->lower);
	return mount("overlay", l->target, "overlay", 0, l->options) ? -errno : 0;
}

static int make_link(const struct sandbox_layer *l)
{
	return symlink(l->link, l->target) && errno != EEXIST ? -errno : 0;
}

static int make_like(const struct sandbox_layer *l)
{
	int rc = make_target(l->target, false);
	if (!rc)
		look_like(l->target, l->lower);
	return rc;
}

static int stack(const struct sandbox *s)
{
	for (size_t i = 0; i < s->layer_count; i++) {
		const struct sandbox_layer *l = &s->layers[i];
		int rc = l->options ? overlay(l) : l->link ? make_link(l) : l->lower ? make_like(l) : 0;
		if (rc)
			return rc;
	}
	return 0;
}

static int devices(const struct sandbox *s)
{
	static const char *const own[] = { "/dev", "/sys" };
	(void)s;
	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++) {
		char target[64] = SANDBOX_ROOT;
		strncat(target, own[i], sizeof(target) - sizeof(SANDBOX_ROOT) - 1);
		int rc = bind_mount(own[i], target, false, false);
		if (rc)
			return rc;
	}
	mkdir(SANDBOX_ROOT "/dev/shm", 01777);
	if (mount("tmpfs", SANDBOX_ROOT "/dev/shm", "tmpfs", MS_NOSUID | MS_NODEV, "mode=1777"))
		return -errno;
	return 0;
}

static int processes(const struct sandbox *s)
{
	(void)s;
	if (mkdir(SANDBOX_ROOT "/proc", 0755) && errno != EEXIST)
		return -errno;
	return mount("proc", SANDBOX_ROOT "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) ? -errno : 0;
}

static int binds(const struct sandbox *s)
{
	for (size_t i = 0; i < s->layer_count; i++) {
		const struct sandbox_layer *l = &s->layers[i];
		int rc = l->source ? bind_mount(l->source, l->target, l->is_file, l->is_read_only) : 0;
		if (rc)
			return rc;
	}
	return 0;
}

static int turn(const struct sandbox *s)
{
	(void)s;
	if (chdir(SANDBOX_ROOT) || syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) || chdir("/"))
		return -errno;
	return 0;
}

static int network(const struct sandbox *s)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	if (!s->has_own_network)
		return 0;
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	int rc = ioctl(fd, SIOCSIFFLAGS, &lo) ? -errno : 0;
	close(fd);
	return rc;
}

static const struct {
	int (*step)(const struct sandbox *s);
	const char *words;
} steps[] = {
	{ take_ids, "cannot take our user id into the sandbox" },
	{ make_scratch, "cannot mount memory for the sandbox" },
	{ stack, "cannot lay the sandbox's memory over the root" },
	{ devices, "cannot mount /dev and /sys in the sandbox" },
	{ processes, "cannot mount /proc in the sandbox" },
	{ binds, "cannot mount what was asked for in the sandbox" },
	{ turn, "cannot make the sandbox's root the root" },
	{ network, "cannot set up the sandbox's network" },
};

int sandbox_enter(const struct sandbox *s, int *stage)
{
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		int rc = steps[i].step(s);
		*stage = (int)i;
		if (rc)
			return rc;
	}
	return 0;
}

const char *sandbox_stage_words(int stage)
{
	return stage >= 0 && (size_t)stage < sizeof(steps) / sizeof(*steps) ? steps[stage].words : "the sandbox failed";
}
