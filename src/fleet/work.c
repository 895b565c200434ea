/* Directories of jobs that bring their files; see push.h. Whoever uses one holds a lock on it. */
#include "base/cleanup.h"
#include "fleet/push.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME "sonde-job"

static int open_locked(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

int fleet_work_make(struct fleet_work *w, struct sonde_err *err)
{
	struct stat ours, there;
	int rc;

	do { /* until it is not swept away between being made and being locked */
		rc = fs_temp_dir(w->dir, NAME, err);
		if (rc < 0)
			return rc;
		w->lock = open_locked(w->dir);
	} while (w->lock < 0 || fstat(w->lock, &ours) < 0 || stat(w->dir, &there) < 0 || ours.st_ino != there.st_ino);
	return 0;
}

void fleet_work_release(struct fleet_work *w)
{
	if (w->lock < 0)
		return;
	fs_remove_tree(AT_FDCWD, w->dir);
	close(w->lock);
	w->lock = -1;
}

void fleet_work_sweep(void)
{
	const char *base = getenv("TMPDIR");
	DIR *dir;
	const struct dirent *entry;

	base = base && *base ? base : "/tmp";
	dir = opendir(base);
	while (dir && (entry = readdir(dir))) {
		CLEANUP(buf_release) struct buf path = BUF_INIT;
		struct stat st;
		int fd;

		buf_addf(&path, "%s/%s", base, entry->d_name);
		if (strncmp(entry->d_name, NAME ".", sizeof(NAME)) != 0 || lstat(path.data, &st) < 0 ||
				st.st_uid != geteuid())
			continue;
		fd = open_locked(path.data);
		if (fd < 0)
			continue;
		fs_remove_tree(AT_FDCWD, path.data);
		close(fd);
	}
	if (dir)
		closedir(dir);
}
