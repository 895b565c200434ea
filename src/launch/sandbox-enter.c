/* Sets up a sandbox, as its process 1. Nothing here allocates. */
#include "launch/mounts.h"
#include "launch/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
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

/* Maps our user and group to the same ids in the namespace. */
static int set_ids(struct sandbox *s)
{
	if (!s->is_ordinary)
		return 0;
	write_file("/proc/self/setgroups", "deny");
	int rc = write_file("/proc/self/uid_map", s->uid_map);
	return rc ? rc : write_file("/proc/self/gid_map", s->gid_map);
}

static int set_private(struct sandbox *s)
{
	(void)s;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ? -errno : 0;
}

static int create_scratch(struct sandbox *s)
{
	if (mount("tmpfs", SANDBOX_SCRATCH, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") || mkdir(SANDBOX_ROOT, 0755))
		return -errno;
	/* The root must be a mount; a root in parts is a tmpfs into which the parts are mounted. */
	return s->is_parted && mount("tmpfs", SANDBOX_ROOT, "tmpfs", MS_NOSUID | MS_NODEV, "mode=0755") ? -errno : 0;
}

/*
 * Opens below the new root, and resolves every link within it: the root may be hostile, and its links are relative
 * to it.
 */
static int open_inside(int root, const char *path, uint64_t flags)
{
	struct open_how how = { .flags = flags | O_CLOEXEC,
		.mode = flags & O_CREAT ? 0644 : 0,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}

/* Opens the directory `part`, and creates it below `above` if missing. */
static int enter_part(int root, int above, const char *part)
{
	const char *slash = strrchr(part, '/');
	int fd = open_inside(root, part, O_PATH | O_DIRECTORY);
	if (fd != -ENOENT)
		return fd;
	if (mkdirat(above, slash ? slash + 1 : part, 0755) && errno != EEXIST)
		return -errno;
	return open_inside(root, part, O_PATH | O_DIRECTORY);
}

/* Opens the path and creates its missing directories; the last component is created as a file if is_file. */
static int create_target(const char *path, bool is_file)
{
	char part[PATH_MAX];
	const char *inner = path + sizeof(SANDBOX_ROOT); /* after the slash */
	size_t n = strlen(inner);
	if (n >= sizeof(part))
		return -ENAMETOOLONG;
	memcpy(part, inner, n + 1);
	int root = open(SANDBOX_ROOT, O_PATH | O_DIRECTORY | O_CLOEXEC), above = root;
	if (root < 0)
		return -errno;
	for (char *c = part; above >= 0 && (c = strchr(c, '/')); c++) {
		*c = '\0';
		int next = *part ? enter_part(root, above, part) : root;
		if (above != root)
			close(above);
		above = next;
		*c = '/';
	}
	int fd = above < 0        ? above
			: is_file ? open_inside(root, part, O_RDONLY | O_CREAT)
				  : enter_part(root, above, part);
	if (above >= 0 && above != root)
		close(above);
	close(root);
	return fd;
}

static int create_directory(const char *path)
{
	int fd = create_target(path, false);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

static int put_tree(int tree, const char *target, bool is_file)
{
	int at = create_target(target, is_file);
	if (at < 0)
		return at;
	int rc = move_mount(tree, "", at, "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) ? -errno : 0;
	close(at);
	return rc;
}

static int bind_mount(const char *source, const char *target, bool is_file, bool is_read_only)
{
	int fd = open(source, O_PATH | O_CLOEXEC);
	int tree = fd < 0 ? -errno : mount_clone(fd, is_read_only);
	int rc = tree < 0 ? tree : put_tree(tree, target, is_file);
	if (fd >= 0)
		close(fd);
	if (tree >= 0)
		close(tree);
	return rc;
}

/*
 * The job's mounts are resolved once, here, where the namespace is already private; the descriptors are mounted.
 */
static int open_mounts(struct sandbox *s)
{
	for (size_t i = 0; i < s->layer_count; i++) {
		struct sandbox_layer *l = &s->layers[i];
		struct stat st;
		if (!l->mount)
			continue;
		int fd = mount_open(l->mount);
		if (fd < 0)
			return fd;
		l->is_file = !fstat(fd, &st) && !S_ISDIR(st.st_mode);
		l->tree = mount_clone(fd, l->mount->is_read_only);
		close(fd);
		if (l->tree < 0)
			return l->tree;
	}
	return 0;
}

/* Copies owner and mode of the lower directory to the upper one. */
static void look_like(const char *upper, const char *lower)
{
	struct stat st;
	if (stat(lower, &st))
		return;
	if (chown(upper, st.st_uid, st.st_gid))
		return; /* the id is not mapped in this namespace: keep ours */
	chmod(upper, st.st_mode & 07777);
}

static int overlay(const struct sandbox_layer *l)
{
	int rc = l->target[sizeof(SANDBOX_ROOT) - 1] ? create_directory(l->target) : 0;
	if (rc)
		return rc;
	if (mkdir(l->upper, 0755) || mkdir(l->work, 0755))
		return -errno;
	look_like(l->upper, l->lower);
	return mount("overlay", l->target, "overlay", 0, l->options) ? -errno : 0;
}

static int create_link(const struct sandbox_layer *l)
{
	return symlink(l->link, l->target) && errno != EEXIST ? -errno : 0;
}

static int create_like(const struct sandbox_layer *l)
{
	int rc = create_directory(l->target);
	if (!rc)
		look_like(l->target, l->lower);
	return rc;
}

static int stack(struct sandbox *s)
{
	for (size_t i = 0; i < s->layer_count; i++) {
		const struct sandbox_layer *l = &s->layers[i];
		int rc = l->options ? overlay(l) : l->link ? create_link(l) : l->lower ? create_like(l) : 0;
		if (rc)
			return rc;
	}
	return 0;
}

static int devices(struct sandbox *s)
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

static int processes(struct sandbox *s)
{
	(void)s;
	if (mkdir(SANDBOX_ROOT "/proc", 0755) && errno != EEXIST)
		return -errno;
	return mount("proc", SANDBOX_ROOT "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) ? -errno : 0;
}

static int binds(struct sandbox *s)
{
	for (size_t i = 0; i < s->layer_count; i++) {
		const struct sandbox_layer *l = &s->layers[i];
		int rc = l->source         ? bind_mount(l->source, l->target, l->is_file, l->is_read_only)
				: l->mount ? put_tree(l->tree, l->target, l->is_file)
					   : 0;
		if (rc)
			return rc;
	}
	return 0;
}

static int turn(struct sandbox *s)
{
	(void)s;
	if (chdir(SANDBOX_ROOT) || syscall(SYS_pivot_root, ".", ".") || umount2(".", MNT_DETACH) || chdir("/"))
		return -errno;
	return 0;
}

static int network(struct sandbox *s)
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
	int (*step)(struct sandbox *s);
	const char *words;
} steps[] = {
	{ set_ids, "cannot take our user id into the sandbox" },
	{ set_private, "cannot make the sandbox's mounts private" },
	{ open_mounts, "cannot open a mount of the sandbox" },
	{ create_scratch, "cannot mount memory for the sandbox" },
	{ stack, "cannot mount the overlay of the sandbox's root" },
	{ devices, "cannot mount /dev and /sys in the sandbox" },
	{ processes, "cannot mount /proc in the sandbox" },
	{ binds, "cannot mount in the sandbox" },
	{ turn, "cannot change the root of the sandbox" },
	{ network, "cannot set up the sandbox's network" },
};

int sandbox_enter(struct sandbox *s, int *stage)
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
