#include "model/lanes.h"

#include "base/cleanup.h"
#include "model/model-private.h"
#include "store/run-dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The pyramid directory of the run directory, which is untrusted: a symbolic link is not followed. -1 if it is
 * missing.
 */
static int open_dir(const struct model_run *run)
{
	return openat(run->store.dirfd, STORE_PYRAMID_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Open the pyramid stored in the run directory. */
static int open_kept(struct pyramid **out, const struct model_run *run, uint64_t stamp)
{
	CLEANUP(cleanup_fd) int dir = open_dir(run);
	CLEANUP(cleanup_fd)
	int fd = dir < 0 ? -1 : openat(dir, STORE_PYRAMID, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct pyramid *p;

	if (fd < 0 || pyramid_open(&p, fd, NULL) < 0)
		return -ENOENT;
	if (pyramid_stamp(p) != stamp) {
		pyramid_free(p);
		return -ESTALE;
	}
	*out = p;
	return 0;
}

/* Create the file in the run directory, opened as *dir; if that is not possible, an unnamed file with *dir = -1. */
static int create(const struct model_run *run, int *dir)
{
	int fd = -1;

	*dir = -1;
	if (!model_run_is_unfinished(run) &&
			(mkdirat(run->store.dirfd, STORE_PYRAMID_DIR, 0700) == 0 || errno == EEXIST))
		*dir = open_dir(run);
	if (*dir >= 0) {
		unlinkat(*dir, STORE_PYRAMID_TEMPORARY, 0); /* of a process that died */
		fd = openat(*dir, STORE_PYRAMID_TEMPORARY, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	}
	if (fd >= 0)
		return fd;
	if (*dir >= 0)
		close(*dir);
	*dir = -1;
	fd = open("/var/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
	return fd >= 0 ? fd : memfd_create("sonde-pyramid", MFD_CLOEXEC);
}

static int make(int fd, struct model_run *run, uint64_t stamp, const struct model_lanes_opts *opts,
		struct sonde_err *err)
{
	struct pyramid_writer *w;
	int rc = pyramid_writer_open(&w, fd, stamp, err);

	if (rc < 0)
		return rc;
	rc = lanes_fill(w, run, opts, err);
	if (rc < 0) {
		pyramid_writer_free(w);
		return rc;
	}
	return pyramid_writer_close(w, err);
}

int model_lanes_open(struct pyramid **out, struct model_run *run, const struct model_lanes_opts *opts,
		struct sonde_err *err)
{
	uint64_t stamp = lanes_stamp(run);
	CLEANUP(cleanup_fd) int dir = -1;

	if (!(opts && opts->is_anew) && open_kept(out, run, stamp) == 0)
		return 0;
	CLEANUP(cleanup_fd) int fd = create(run, &dir);
	if (fd < 0)
		return err_sys(err, errno, "cannot create a file for the pyramid");
	int rc = make(fd, run, stamp, opts, err);
	if (dir >= 0 && rc < 0)
		unlinkat(dir, STORE_PYRAMID_TEMPORARY, 0);
	if (dir >= 0 && rc == 0 && renameat(dir, STORE_PYRAMID_TEMPORARY, dir, STORE_PYRAMID) < 0)
		rc = err_sys(err, errno, "cannot keep the pyramid in '%s'", model_run_path(run));
	return rc < 0 ? rc : pyramid_open(out, fd, err);
}

int model_lanes_remove(struct model_run *run, uint64_t *bytes, struct sonde_err *err)
{
	CLEANUP(cleanup_fd) int dir = open_dir(run);
	struct stat st;

	*bytes = dir >= 0 && fstatat(dir, STORE_PYRAMID, &st, AT_SYMLINK_NOFOLLOW) == 0 ? (uint64_t)st.st_size : 0;
	int rc = store_pyramid_remove(run->store.dirfd);
	/* The directory is kept if it holds a file that is not part of the cache. */
	return rc < 0 && rc != -ENOTEMPTY ? err_sys(err, -rc, "cannot remove '%s'", STORE_PYRAMID_DIR) : 0;
}
