#include "base/journal.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { LOCK_TRIES = 50, LOCK_WAIT_NS = 20000000 };

static int lock(int fd)
{
	for (int i = 0; i < LOCK_TRIES; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return 0;
		/* Some network file systems have no locks: journals have to work there too. */
		if (errno == ENOLCK || errno == EOPNOTSUPP)
			return 0;
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		/* The children of a killed writer have inherited its lock, and take a moment to follow it. */
		nanosleep(&(struct timespec){ .tv_nsec = LOCK_WAIT_NS }, NULL);
	}
	return -EBUSY;
}

/* Finds out how an earlier writer left the file. */
static int inspect(struct journal *j, struct buf *text, struct sonde_err *err)
{
	const char *newline;
	struct stat st;
	char last;
	int rc;

	if (j->is_shared) {
		/* A device or a pipe has size 0. */
		j->is_cut = fstat(j->fd, &st) == 0 && st.st_size > 0 && pread(j->fd, &last, 1, st.st_size - 1) == 1 &&
				last != '\n';
		return 0;
	}
	rc = lock(j->fd);
	if (rc < 0)
		return rc == -EBUSY ? err_set(err, EBUSY, "'%s' is in use by another process", j->path)
				    : err_sys(err, -rc, "cannot lock '%s'", j->path);
	if (!text)
		return 0;
	buf_reset(text);
	rc = fs_read_file(AT_FDCWD, j->path, JOURNAL_BYTES_MAX, text, err);
	if (rc < 0)
		return rc;
	newline = memrchr(text->data, '\n', text->len);
	j->length = newline ? newline + 1 - text->data : 0;
	j->cut_bytes = text->len - (size_t)j->length;
	j->is_cut = j->cut_bytes > 0;
	return 0;
}

int journal_open(struct journal *j, const char *path, int flags, mode_t mode, struct buf *text, struct sonde_err *err)
{
	int rc, options = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC;

	if (flags & JOURNAL_NEW)
		options |= O_EXCL;
	if (flags & JOURNAL_SHARED)
		options |= O_NOFOLLOW;
	*j = (struct journal){ .is_shared = flags & JOURNAL_SHARED };
	j->fd = open(path, options, mode);
	if (j->fd < 0)
		return err_sys(err, errno, "cannot open '%s'", path);
	j->path = strdup(path);
	if (!j->path) {
		close(j->fd);
		j->fd = -1;
		return err_sys(err, ENOMEM, "cannot open '%s'", path);
	}
	rc = inspect(j, text, err);
	if (rc < 0)
		journal_close(j);
	return rc;
}

void journal_close(struct journal *j)
{
	if (j->path)
		close(j->fd);
	free(j->path);
	*j = (struct journal)JOURNAL_INIT;
}

const char *journal_line(const struct buf *text, size_t *at, size_t *size)
{
	const char *line = text->data + *at, *end = memchr(line, '\n', text->len - *at);

	if (!end)
		return NULL;
	*size = (size_t)(end - line);
	*at += *size + 1;
	return line;
}

int journal_trim(struct journal *j, struct sonde_err *err)
{
	if (!j->is_cut)
		return 0;
	if (ftruncate(j->fd, j->length))
		return err_sys(err, errno, "cannot remove the incomplete last line of '%s'", j->path);
	j->is_cut = false;
	return 0;
}

int journal_clear(struct journal *j, struct sonde_err *err)
{
	j->length = 0;
	j->is_cut = true;
	return journal_trim(j, err);
}

/* One write, so that lines of several processes do not mix. Its own newline separates it from an incomplete line. */
static int append_shared(struct journal *j, const struct buf *line)
{
	char newline = '\n';
	struct iovec parts[] = { { &newline, j->is_cut }, { line->data, line->len } };
	ssize_t n = writev(j->fd, parts, 2);

	if (n < 0)
		return -errno;
	j->is_cut = (size_t)n < parts[0].iov_len + line->len;
	return j->is_cut ? -ENOSPC : 0;
}

static int append_exclusive(struct journal *j, const struct buf *line)
{
	int rc = journal_trim(j, NULL);

	if (rc)
		return rc;
	j->length = lseek(j->fd, 0, SEEK_END);
	rc = fs_write_all(j->fd, line->data, line->len);
	if (!rc && fdatasync(j->fd))
		rc = -errno;
	if (!rc)
		return 0;
	/* If this fails as well, the next append tries again; a reader ignores an incomplete line in any case. */
	j->is_cut = true;
	journal_trim(j, NULL);
	return rc;
}

int journal_append(struct journal *j, struct buf *line, struct sonde_err *err)
{
	int rc;

	buf_addc(line, '\n');
	rc = buf_error(line);
	if (!j->path)
		return rc;
	if (!rc)
		rc = j->is_shared ? append_shared(j, line) : append_exclusive(j, line);
	return rc ? err_sys(err, -rc, "cannot write '%s'", j->path) : 0;
}
