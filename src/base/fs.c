/*
 * Every descriptor is close-on-exec. No function here follows a symbolic link in the last component of a path that it
 * writes or removes.
 */
#include "base/fs.h"

#include "base/cleanup.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_STEP = 65536, TEMP_TRIES = 100 };

/* Reads to end of file: st_size is unreliable (0 in /proc, files grow). */
static int read_rest(int fd, size_t max, struct buf *out)
{
	size_t left = max;

	for (;;) {
		size_t step = left < READ_STEP ? left + 1 : READ_STEP; /* one more byte: "full" or "too long" */
		char *room = buf_room(out, step);
		ssize_t n = room ? read(fd, room, step) : -1;

		if (!room)
			return -ENOMEM;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if ((size_t)n > left)
			return -EFBIG;
		if (n == 0)
			return 0;
		out->len += (size_t)n;
		left -= (size_t)n;
	}
}

static int read_whole(int fd, const char *path, size_t max, struct buf *out, struct sonde_err *err)
{
	size_t before = out->len;
	int rc = read_rest(fd, max, out);

	if (rc == 0)
		return 0;
	out->len = before;
	if (out->data != buf_empty)
		out->data[before] = '\0';
	return err_sys(err, -rc, "cannot read '%s'", path);
}

int fs_read_file(int dirfd, const char *path, size_t max, struct buf *out, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return err_sys(err, errno, "cannot open '%s'", path);
	return read_whole(fd, path, max, out, err);
}

int fs_read_plain_file(int dirfd, const char *path, size_t max, struct buf *out, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_sys(err, errno, "cannot open '%s'", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, EINVAL, "cannot read '%s': it is not a regular file", path);
	return read_whole(fd, path, max, out, err);
}

int fs_write_all(int fd, const void *bytes, size_t n)
{
	const char *p = bytes;

	while (n > 0) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		if (done == 0)
			return -EIO;
		p += done;
		n -= (size_t)done;
	}
	return 0;
}

/* Creates a temporary file in the directory of path; name receives its path. */
static int open_temp(int dirfd, const char *path, struct buf *name)
{
	static unsigned counter;

	for (int i = 0; i < TEMP_TRIES; i++) {
		int fd;

		buf_reset(name);
		buf_addf(name, "%s.%d-%u.tmp", path, (int)getpid(), __atomic_fetch_add(&counter, 1, __ATOMIC_RELAXED));
		if (buf_error(name) < 0)
			return -ENOMEM;
		fd = openat(dirfd, name->data, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd >= 0)
			return fd;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

/* Not fsync'ed: the file is atomic for readers and if the writer is killed, not across a power failure. */
static int write_and_rename(int fd, int dirfd, const char *temp, const char *path, const void *bytes, size_t n)
{
	int rc = fs_write_all(fd, bytes, n);

	/* Quotas and network file systems report lost writes at close. */
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc == 0 && renameat(dirfd, temp, dirfd, path) < 0)
		rc = -errno;
	if (rc < 0)
		unlinkat(dirfd, temp, 0);
	return rc;
}

int fs_replace_file(int dirfd, const char *path, const void *bytes, size_t n, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf temp = BUF_INIT;
	int fd = open_temp(dirfd, path, &temp);
	int rc = fd < 0 ? fd : write_and_rename(fd, dirfd, temp.data, path, bytes, n);

	return rc < 0 ? err_sys(err, -rc, "cannot write '%s'", path) : 0;
}

static int write_into(const char *path, const void *bytes, size_t n)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0600);
	int rc = fd < 0 ? -errno : fs_write_all(fd, bytes, n);

	if (fd >= 0 && close(fd) < 0 && rc == 0)
		rc = -errno;
	return rc;
}

int fs_write_output(const char *path, const void *bytes, size_t n, struct sonde_err *err)
{
	struct stat st;
	int rc;

	if (lstat(path, &st) < 0 || S_ISREG(st.st_mode))
		return fs_replace_file(AT_FDCWD, path, bytes, n, err);
	rc = write_into(path, bytes, n);
	return rc < 0 ? err_sys(err, -rc, "cannot write '%s'", path) : 0;
}

/* An existing directory is success, whatever errno mkdir reports first (EEXIST, EROFS, EACCES of an automounter). */
static int mkdir_one(const char *path, mode_t mode)
{
	struct stat st;
	int errnum;

	if (mkdir(path, mode) == 0)
		return 0;
	errnum = errno;
	if (stat(path, &st) < 0)
		return -errnum;
	return S_ISDIR(st.st_mode) ? 0 : -ENOTDIR;
}

int fs_mkdir_p(const char *path, mode_t mode, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf part = BUF_INIT;
	int rc = 0;

	for (const char *end = path; rc == 0 && *end;) {
		end += strspn(end, "/");
		end += strcspn(end, "/");
		buf_reset(&part);
		buf_add(&part, path, (size_t)(end - path));
		rc = buf_error(&part);
		if (rc == 0)
			rc = mkdir_one(part.data, mode);
	}
	if (!*path)
		rc = -ENOENT;
	return rc < 0 ? err_sys(err, -rc, "cannot create the directory '%s'", path) : 0;
}

static int remove_entry(int dirfd, const char *name);

static bool is_dot(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Empties the directory behind fd and closes it; continues after a failure and returns the first one. */
static int remove_contents(int fd)
{
	const struct dirent *entry;
	DIR *dir = fdopendir(fd);
	int first = 0;

	if (!dir) {
		first = -errno;
		close(fd);
		return first;
	}
	while ((entry = readdir(dir))) {
		int rc = is_dot(entry->d_name) ? 0 : remove_entry(fd, entry->d_name);

		if (first == 0 && rc != -ENOENT) /* another process removed it first */
			first = rc;
	}
	closedir(dir);
	return first;
}

static int remove_entry(int dirfd, const char *name)
{
	int fd, rc;

	if (unlinkat(dirfd, name, 0) == 0)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP ? -EPERM : -errno;
	rc = remove_contents(fd);
	if (unlinkat(dirfd, name, AT_REMOVEDIR) < 0 && rc == 0)
		rc = -errno;
	return rc;
}

int fs_remove_tree(int dirfd, const char *path)
{
	return remove_entry(dirfd, path);
}

/* Returns 0 if path is executable and not a directory, else the errno that exec would set. */
static int check_program_file(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	return access(path, X_OK) ? errno : 0;
}

int fs_check_program(const char *program)
{
	CLEANUP(buf_release) struct buf at = BUF_INIT;
	const char *path = getenv("PATH");
	int found = ENOENT;

	if (strchr(program, '/'))
		return check_program_file(program);
	for (const char *next; found && path && *path; path = *next ? next + 1 : next) {
		next = strchrnul(path, ':');
		buf_reset(&at);
		buf_add(&at, path, (size_t)(next - path));
		buf_addf(&at, "%s%s", next == path ? "" : "/", program);
		int here = check_program_file(at.data);

		if (!here || here == EACCES)
			found = here;
	}
	return found;
}

static bool cut_tail(struct buf *path, const char *tail)
{
	size_t n = strlen(tail);

	if (path->len < n || memcmp(path->data + path->len - n, tail, n) != 0)
		return false;
	path->len -= n;
	path->data[path->len] = '\0';
	return true;
}

int fs_prefix(struct buf *out, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf dir = BUF_INIT;
	char program[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (n < 0)
		return err_sys(err, errno, "cannot find the running program by /proc/self/exe");
	program[n] = '\0';
	buf_add(&dir, program, (size_t)(strrchr(program, '/') - program));
	if (!cut_tail(&dir, "/bin") && !cut_tail(&dir, "/libexec/sonde"))
		return err_set(err, ENOENT, "'%s' is not in PREFIX/bin or PREFIX/libexec/sonde", program);
	buf_adds(out, dir.len ? dir.data : "/");
	return buf_error(out);
}

static char safe_char(char c)
{
	return (isascii(c) && isalnum(c)) || c == '.' || c == '_' || c == '-' ? c : '_';
}

void fs_safe_name(struct buf *out, const char *text, size_t max)
{
	if (!*text || *text == '.' || *text == '-') {
		buf_addc(out, '_');
		text += *text != '\0';
		max -= max > 0;
	}
	for (; *text && max > 0; text++, max--)
		buf_addc(out, safe_char(*text));
}

int fs_temp_dir(char path[FS_TEMP_BYTES], const char *name, struct sonde_err *err)
{
	const char *dir = getenv("TMPDIR");
	int n = snprintf(path, FS_TEMP_BYTES, "%s/%s.XXXXXX", dir && *dir ? dir : "/tmp", name);
	int rc = 0;

	if (n >= FS_TEMP_BYTES)
		rc = err_set(err, ENAMETOOLONG, "TMPDIR is too long");
	else if (!mkdtemp(path))
		rc = err_sys(err, errno, "cannot create a directory '%s'", path);
	if (rc)
		path[0] = '\0';
	return rc;
}

/* Temporary directories. */

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
	CLEANUP(cleanup_dir) DIR *dir = opendir(base);

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
}
