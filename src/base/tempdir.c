#include "base/tempdir.h"

#include "base/cleanup.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_locked(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* Does the path still refer to the locked directory? */
static bool is_there(const struct tempdir *t)
{
	struct stat ours, there;

	return t->lock >= 0 && fstat(t->lock, &ours) == 0 && lstat(t->path, &there) == 0 &&
			ours.st_ino == there.st_ino && ours.st_dev == there.st_dev;
}

int tempdir_make(struct tempdir *t, const char *name, struct sonde_err *err)
{
	t->lock = -1;
	do { /* retry if another process removed it between mkdtemp and the lock */
		int rc = fs_temp_dir(t->path, name, err);

		if (t->lock >= 0)
			close(t->lock);
		t->lock = -1;
		if (rc < 0)
			return rc;
		t->lock = open_locked(t->path);
	} while (!is_there(t));
	return 0;
}

void tempdir_release(struct tempdir *t)
{
	if (!t->path[0])
		return;
	fs_remove_tree(AT_FDCWD, t->path);
	close(t->lock);
	*t = (struct tempdir)TEMPDIR_INIT;
}

static bool is_ours(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid();
}

void tempdir_sweep(const char *name)
{
	const char *tmp = getenv("TMPDIR"), *base = tmp && *tmp ? tmp : "/tmp";
	size_t n = strlen(name);
	DIR *dir = opendir(base);

	for (const struct dirent *e; dir && (e = readdir(dir));) {
		CLEANUP(buf_release) struct buf path = BUF_INIT;
		int fd;

		if (strncmp(e->d_name, name, n) != 0 || e->d_name[n] != '.')
			continue;
		buf_addf(&path, "%s/%s", base, e->d_name);
		fd = is_ours(path.data) ? open_locked(path.data) : -1;
		if (fd < 0)
			continue;
		fs_remove_tree(AT_FDCWD, path.data);
		close(fd);
	}
	if (dir)
		closedir(dir);
}
