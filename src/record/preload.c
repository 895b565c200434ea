#include "record/preload.h"

#include "base/cleanup.h"
#include "base/fs.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void preload_value(struct buf *out, const char *library)
{
	const char *theirs = getenv("LD_PRELOAD");
	bool is_last = theirs && strstr(theirs, "libasan.so"); /* it must be the first */
	buf_adds(out, "LD_PRELOAD=");
	if (is_last)
		buf_addf(out, "%s:", theirs);
	buf_adds(out, library);
	if (theirs && *theirs && !is_last)
		buf_addf(out, ":%s", theirs);
}

static int find_library(struct buf *out, struct sonde_err *err)
{
	const char *given = getenv("SONDE_LIBRARY");
	if (given && *given) {
		buf_adds(out, given);
	} else {
		int rc = fs_prefix(out, err);
		if (rc)
			return rc;
		buf_adds(out, "/lib/libsonde.so.0");
	}
	return access(out->data, R_OK) ? err_sys(err, errno, "cannot read '%s'", out->data) : 0;
}

/* The loader splits LD_PRELOAD at spaces and colons: such a path gets a symbolic link in the ring directory. */
static int avoid_separators(const struct ring_dir *ring, struct buf *library, struct sonde_err *err)
{
	if (!strpbrk(library->data, " :") || !strchr(library->data, '/'))
		return 0;
	CLEANUP(buf_release)
	struct buf dir = BUF_INIT; /* libsonde finds libraries in its directory: see src/tracer/env-expose.c */
	buf_addf(&dir, "%.*s/sonde", (int)(strrchr(library->data, '/') - library->data), library->data);
	if (symlinkat(library->data, ring->fd, "libsonde.so") || symlinkat(dir.data, ring->fd, "sonde"))
		return err_sys(err, errno, "cannot link '%s' into '%s'", library->data, ring->path.data);
	buf_reset(library);
	buf_addf(library, "%s/libsonde.so", ring->path.data);
	return 0;
}

int preload_library(const struct ring_dir *ring, struct buf *library, struct sonde_err *err)
{
	int rc = find_library(library, err);
	return rc ? rc : avoid_separators(ring, library, err);
}
