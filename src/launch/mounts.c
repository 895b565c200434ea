#include "launch/mounts.h"

#include "base/cleanup.h"
#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PARENT "/run/sonde"
#define NAME "mounts."
#define MOUNTINFO_MAX ((size_t)4 << 20)

int mount_open(const struct job_mount *m)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS };
	if (!m->beneath) {
		int fd = open(m->source, O_PATH | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	size_t n = strlen(m->beneath);
	if (strncmp(m->source, m->beneath, n) != 0)
		return -EXDEV;
	int dir = open(m->beneath, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 && errno == ENOTDIR && !m->source[n]) /* `beneath` is a single file */
		dir = open(m->beneath, O_PATH | O_CLOEXEC);
	if (dir < 0)
		return -errno;
	const char *rest = m->source + n;
	while (*rest == '/')
		rest++;
	if (!*rest)
		return dir;
	int fd = (int)syscall(SYS_openat2, dir, rest, &how, sizeof(how));
	int error = errno;
	close(dir);
	return fd < 0 ? -error : fd;
}

int mount_clone(int fd, bool is_read_only)
{
	struct mount_attr attr = { .attr_set = MOUNT_ATTR_RDONLY };
	int tree = open_tree(fd, "", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH | AT_RECURSIVE);
	if (tree < 0)
		return -errno;
	if (is_read_only && mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attr, sizeof(attr))) {
		int error = errno;
		close(tree);
		return -error;
	}
	return tree;
}

int mount_error(const struct job_mount *m, int errnum, struct sonde_err *err)
{
	if (errnum == EXDEV || errnum == ELOOP)
		return err_set(err, EINVAL, "cannot mount '%s': it leads outside of '%s'", m->source, m->beneath);
	err_sys(err, errnum, "cannot mount '%s'", m->source);
	if (errnum == EPERM)
		err_hint(err,
				"only root can mount for a container what a request names: "
				"run 'sonde jobserver' as root");
	return errnum == ENOENT || errnum == EACCES || errnum == ENOTDIR ? -EINVAL : -errnum;
}

/* The private directory for a container's mounts (mount_dir). */

static int create_target(int dir, const char *name, int source)
{
	struct stat st;
	if (fstat(source, &st))
		return -errno;
	if (S_ISDIR(st.st_mode))
		return mkdirat(dir, name, 0700) ? -errno : 0;
	CLEANUP(cleanup_fd) int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd < 0 ? -errno : 0;
}

static int add(struct mount_dir *d, const struct job_mount *m, size_t index)
{
	char name[24];
	CLEANUP(cleanup_fd) int source = mount_open(m);
	if (source < 0)
		return source;
	CLEANUP(cleanup_fd) int tree = mount_clone(source, m->is_read_only);
	if (tree < 0)
		return tree;
	snprintf(name, sizeof(name), "%zu", index);
	int rc = create_target(d->lock, name, source);
	if (!rc && move_mount(tree, "", d->lock, name, MOVE_MOUNT_F_EMPTY_PATH))
		rc = -errno;
	return rc;
}

/* Locks the directory and checks that it is still at its path: a sweep may have removed it in between. */
static bool lock_dir(struct mount_dir *d)
{
	struct stat named, held;
	d->lock = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (d->lock >= 0 && !flock(d->lock, LOCK_EX | LOCK_NB) && !fstat(d->lock, &held) && !lstat(d->path, &named) &&
			named.st_ino == held.st_ino && named.st_dev == held.st_dev)
		return true;
	if (d->lock >= 0)
		close(d->lock);
	d->lock = -1;
	return false;
}

static int create_dir(struct mount_dir *d, struct sonde_err *err)
{
	struct stat st;
	if ((mkdir(PARENT, 0700) && errno != EEXIST) || lstat(PARENT, &st))
		return err_sys(err, errno, "cannot create '%s'", PARENT);
	if (!S_ISDIR(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 022)
		return err_set(err, EPERM, "'%s' must be a directory that only root can write to", PARENT);
	do {
		snprintf(d->path, sizeof(d->path), PARENT "/" NAME "XXXXXX");
		if (!mkdtemp(d->path)) {
			int error = errno;
			d->path[0] = '\0';
			return err_sys(err, error, "cannot create a directory in '%s'", PARENT);
		}
	} while (!lock_dir(d));
	return 0;
}

int mount_dir_make(struct mount_dir *d, const struct job_mount *mounts, size_t count, struct sonde_err *err)
{
	*d = (struct mount_dir)MOUNT_DIR_INIT;
	for (size_t i = 0; i < count; i++) {
		if (!mounts[i].beneath)
			continue;
		if (geteuid() != 0) /* only root may write to /run */
			return mount_error(&mounts[i], EPERM, err);
		int rc = d->path[0] ? 0 : create_dir(d, err);
		if (rc)
			return rc;
		rc = add(d, &mounts[i], i);
		if (rc) {
			rc = mount_error(&mounts[i], -rc, err);
			mount_dir_release(d);
			return rc;
		}
	}
	return 0;
}

void mount_dir_source(const struct mount_dir *d, const struct job_mount *m, size_t index, char *out, size_t size)
{
	if (m->beneath)
		snprintf(out, size, "%s/%zu", d->path, index);
	else
		snprintf(out, size, "%s", m->source);
}

/* Until it has pivoted to its own root, a new mount namespace shows all of our mounts. */
bool mount_dir_is_passed(const struct mount_dir *d, pid_t pid)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char path[64], at[sizeof(d->path) + 2];
	struct stat theirs, ours;
	snprintf(at, sizeof(at), " %s/", d->path);
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", (int)pid);
	if (stat(path, &theirs) || stat("/proc/self/ns/mnt", &ours) || theirs.st_ino == ours.st_ino)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/mountinfo", (int)pid);
	return !fs_read_file(AT_FDCWD, path, MOUNTINFO_MAX, &text, NULL) && text.len && !strstr(text.data, at);
}

void mount_dir_release(struct mount_dir *d)
{
	if (!d->path[0])
		return;
	/* Every entry is a mount on an empty file or directory. Only these are unmounted and removed. */
	CLEANUP(cleanup_dir) DIR *list = fdopendir(dup(d->lock));
	for (const struct dirent *e; list && (e = readdir(list));) {
		char at[128];
		if (e->d_name[0] == '.')
			continue;
		snprintf(at, sizeof(at), "%s/%.32s", d->path, e->d_name);
		umount2(at, MNT_DETACH | UMOUNT_NOFOLLOW);
		if (unlinkat(d->lock, e->d_name, AT_REMOVEDIR) && errno == ENOTDIR)
			unlinkat(d->lock, e->d_name, 0);
	}
	rmdir(d->path);
	close(d->lock);
	*d = (struct mount_dir)MOUNT_DIR_INIT;
}

void mount_dir_sweep(void)
{
	CLEANUP(cleanup_dir) DIR *list = geteuid() ? NULL : opendir(PARENT);
	for (const struct dirent *e; list && (e = readdir(list));) {
		struct mount_dir d = MOUNT_DIR_INIT;
		if (strncmp(e->d_name, NAME, sizeof(NAME) - 1) != 0)
			continue;
		snprintf(d.path, sizeof(d.path), PARENT "/%.40s", e->d_name);
		if (lock_dir(&d))
			mount_dir_release(&d);
	}
}
