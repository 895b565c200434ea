/* Files that jobs left: logs and the files of their runs. */
#include "base/cleanup.h"
#include "base/fs.h"
#include "session/jobs-private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int check_number(struct jobs *q, unsigned number, struct sonde_err *err)
{
	pthread_mutex_lock(&q->lock);
	bool is_there = jobs_find(q, number) != NULL;
	pthread_mutex_unlock(&q->lock);
	return is_there ? 0 : jobs_not_found(number, err);
}

int jobs_log(struct jobs *q, unsigned number, struct buf *out, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	int rc = check_number(q, number, err);

	if (rc < 0)
		return rc;
	jobs_path(q, number, "log", &path);
	if (access(path.data, F_OK) < 0)
		return 0; /* it is still queued */
	return fs_read_file(AT_FDCWD, path.data, JOBS_FILE_BYTES_MAX, out, err);
}

int jobs_log_from(struct jobs *q, unsigned number, int64_t from, struct buf *out, bool *is_over, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	CLEANUP(cleanup_fd) int fd = -1;
	struct entry *e;
	char text[16384];
	ssize_t n;

	pthread_mutex_lock(&q->lock);
	e = jobs_find(q, number);
	*is_over = e && e->state != QUEUED && e->state != RUNNING;
	pthread_mutex_unlock(&q->lock);
	if (!e)
		return jobs_not_found(number, err);
	jobs_path(q, number, "log", &path);
	fd = open(path.data, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	n = fd < 0 ? 0 : pread(fd, text, sizeof(text), from);
	if (n > 0)
		buf_add(out, text, (size_t)n);
	*is_over = *is_over && n <= 0;
	return 0;
}

static bool is_file(int dirfd, const char *name)
{
	struct stat st;

	return *name != '.' && !strchr(name, '/') && !fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) &&
			S_ISREG(st.st_mode);
}

/* Returns a descriptor of its run directory, or -errno. */
static int open_run(struct jobs *q, unsigned number, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	int rc = check_number(q, number, err), fd;

	if (rc < 0)
		return rc;
	jobs_path(q, number, "run", &path);
	fd = open(path.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? err_set(err, ENOENT, "job %u has no run yet", number) : fd;
}

int jobs_artifacts(struct jobs *q, unsigned number, struct json *out, struct sonde_err *err)
{
	int fd = open_run(q, number, err);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (fd < 0)
		return fd;
	if (!dir) {
		close(fd);
		return err_sys(err, ENOMEM, "cannot list the files of job %u", number);
	}
	json_array(out);
	for (struct dirent *d; (d = readdir(dir));)
		if (is_file(fd, d->d_name))
			json_str(out, d->d_name);
	json_end(out);
	closedir(dir);
	return 0;
}

int jobs_artifact(struct jobs *q, unsigned number, const char *name, struct buf *out, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int dir = open_run(q, number, err), fd = -1;
	char path[32];
	struct stat st;

	if (dir < 0)
		return dir;
	/* Check the open file, not the name: the application may replace it by a link. */
	if (*name != '.' && !strchr(name, '/'))
		fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode))
		return err_set(err, ENOENT, "job %u has no file of that name", number);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return fs_read_file(AT_FDCWD, path, JOBS_FILE_BYTES_MAX, out, err);
}
