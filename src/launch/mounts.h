/*
 * mounts: bind mounts of host files for a job, by descriptor.
 *
 * A path may resolve to another file between check and mount. So a mount with `beneath` is resolved once, from that
 * directory and never above it, and the resulting descriptor is mounted.
 *
 * A container engine accepts only paths and resolves them itself, possibly in a daemon. For it the descriptors are
 * mounted in a private directory (mount_dir) that no other user may enter. Its lock is released when the owning
 * process dies, and the next process that creates one removes those left by others. This never removes recursively:
 * only mounts and the empty files and directories below them.
 */
#ifndef SONDE_LAUNCH_MOUNTS_H
#define SONDE_LAUNCH_MOUNTS_H

#include "base/err.h"
#include "launch/job.h"

/* Returns an O_PATH descriptor of the source; -EXDEV: it resolves outside of `beneath`. Allocates nothing. */
int mount_open(const struct job_mount *m);
/*
 * Returns a detached clone of the mount tree at a descriptor; read-only as a whole if requested. -errno on failure.
 */
int mount_clone(int fd, bool is_read_only);
/* Sets the error for a failed mount_open or mount_clone. Returns -errno. */
int mount_error(const struct job_mount *m, int errnum, struct sonde_err *err);

struct mount_dir {
	char path[64]; /* "": none */
	int lock;      /* the directory; private */
	size_t count;
};

#define MOUNT_DIR_INIT { .lock = -1 }

/* Mounts each source with `beneath` at PATH/INDEX; creates no directory if there are none. Requires CAP_SYS_ADMIN. */
int mount_dir_make(struct mount_dir *d, const struct job_mount *mounts, size_t count, struct sonde_err *err);
/* The path that an engine has to mount for the index-th mount. */
void mount_dir_source(const struct mount_dir *d, const struct job_mount *m, size_t index, char *out, size_t size);
/* True if the process has pivoted to its own root and does not need the directory any more. */
bool mount_dir_is_passed(const struct mount_dir *d, pid_t pid);
void mount_dir_release(struct mount_dir *d);
void mount_dir_sweep(void); /* removes the directories of killed processes */

#endif
