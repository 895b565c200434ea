/* The pyramid of a run in its bundle; see lanes.h. */
#include "model/lanes.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "model/lanes-fill.h"
#include "model/private.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NAME MODEL_LANES_DIR "/lanes.pyr"
#define TEMPORARY MODEL_LANES_DIR "/lanes.tmp"

/* One of these tables, from the bundle. */
static int open_kept(struct pyramid **out, const struct model_run *run, uint64_t stamp)
{
	CLEANUP(cleanup_fd) int fd = openat(run->store.dirfd, FILE_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
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

/* A file in the bundle, or one without a name when there can be none. */
static int create(const struct model_run *run, bool *is_kept)
{
	int dirfd = run->store.dirfd, fd = -1;

	*is_kept = !model_run_is_unfinished(run);
	if (*is_kept && (mkdirat(dirfd, MODEL_LANES_DIR, 0700) == 0 || errno == EEXIST)) {
		unlinkat(dirfd, TEMPORARY, 0); /* of one who died */
		fd = openat(dirfd, TEMPORARY, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	}
	if (fd >= 0)
		return fd;
	*is_kept = false;
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
	bool is_kept;
	int rc;

	if (!(opts && opts->is_anew) && open_kept(out, run, stamp) == 0)
		return 0;
	CLEANUP(cleanup_fd) int fd = create(run, &is_kept);
	if (fd < 0)
		return err_sys(err, errno, "cannot make a file for the pyramid");
	rc = make(fd, run, stamp, opts, err);
	if (is_kept && rc < 0)
		unlinkat(run->store.dirfd, TEMPORARY, 0);
	if (is_kept && rc == 0 && renameat(run->store.dirfd, TEMPORARY, run->store.dirfd, FILE_NAME) < 0)
		rc = err_sys(err, errno, "cannot keep the pyramid in '%s'", model_run_path(run));
	return rc < 0 ? rc : pyramid_open(out, fd, err);
}

int model_lanes_remove(struct model_run *run, uint64_t *bytes, struct sonde_err *err)
{
	struct stat st;
	int rc;

	*bytes = fstatat(run->store.dirfd, FILE_NAME, &st, AT_SYMLINK_NOFOLLOW) == 0 ? (uint64_t)st.st_size : 0;
	rc = fs_remove_tree(run->store.dirfd, MODEL_LANES_DIR);
	return rc < 0 && rc != -ENOENT ? err_sys(err, -rc, "cannot remove '%s'", MODEL_LANES_DIR) : 0;
}
