/*
 * mounts: files of the host that a job sees, by descriptor.
 *
 * A path that was checked may lead elsewhere by the time it is mounted. So a mount with `beneath` is resolved once,
 * from that directory and never above it, and what is mounted is the descriptor that came of it.
 *
 * A container engine takes paths alone and resolves them itself, maybe in a daemon. For it the descriptors are
 * mounted in
 * a directory of ours that no other user may enter (mount_dir). Its lock goes with the process that holds it, however
 * that ends, and the next process that makes one removes what others have left. Nothing is removed recursively there:
 * only mounts and the empty files and directories below them.
 */
#ifndef SONDE_LAUNCH_MOUNTS_H
#define SONDE_LAUNCH_MOUNTS_H

#include "base/err.h"
#include "launch/job.h"

/* An O_PATH descriptor of the source; -EXDEV: it leads outside of `beneath`. Allocates nothing. */
int mount_open(const struct job_mount *m);
/*
 * A detached copy of what a descriptor names, with all that is mounted below it; read-only as a whole if asked.
 * -errno.
 */
int mount_clone(int fd, bool is_read_only);
/* Says in words why mount_open or mount_clone failed. Returns a negative errno of a refused request. */
int mount_error(const struct job_mount *m, int errnum, struct sonde_err *err);

struct mount_dir {
	char path[64]; /* empty: there is none */
	int lock;      /* the directory; private */
	size_t count;
};

#define MOUNT_DIR_INIT { .lock = -1 }

/* Mounts each source that has `beneath` at PATH/INDEX; without any no directory is made. Needs CAP_SYS_ADMIN. */
int mount_dir_make(struct mount_dir *d, const struct job_mount *mounts, size_t count, struct sonde_err *err);
/* What an engine is to mount for the index-th mount. */
void mount_dir_source(const struct mount_dir *d, const struct job_mount *m, size_t index, char *out, size_t size);
/* True when the process has a root of its own, so that it needs the directory no more. */
bool mount_dir_is_passed(const struct mount_dir *d, pid_t pid);
void mount_dir_release(struct mount_dir *d);
void mount_dir_sweep(void); /* remove what killed processes left */

#endif
