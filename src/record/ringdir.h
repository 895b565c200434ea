/*
 * ringdir: the directory of a run's ring segments.
 *
 * It is created in memory (/dev/shm) if there is room, else next to the run directory, with mode 0700 and a control
 * page that holds the options. A reader of another user's directory maps the control page as it is and trusts nothing
 * in it.
 *
 * Only ring_dir_remove removes a ring. The ring must have been created here or claimed for a run: run.json can name
 * any path, so the name, the owner and the identity in the control page must match. Only files with the names of a
 * ring's parts are unlinked; another file stays and keeps the directory.
 */
#ifndef SONDE_RECORD_RINGDIR_H
#define SONDE_RECORD_RINGDIR_H

#include "base/buf.h"
#include "base/err.h"
#include "sonde/shm.h"
#include "store/run-dir.h"

#include <stdbool.h>
#include <sys/types.h>

struct ring_options {
	uint32_t categories;
	uint32_t overflow;
	int64_t min_dur_ns;
	uint64_t run_bytes_max;
	uint64_t process_bytes_max;
	const char *place;           /* where to create the ring directory; NULL: in memory, else in the fallback */
	const char *const *includes; /* absolute path prefixes, NULL-terminated; NULL none */
	const char *const *excludes;
	const struct sonde_knob_init *wishes; /* initial knob values */
	size_t knob_init_count;
};

#define RING_ID_TEXT 33 /* 32 hexadecimal digits and a NUL */

struct ring_dir {
	struct buf path;
	int fd;
	int parent;                    /* the directory that contains it; -1: only opened, cannot be removed */
	char id[RING_ID_TEXT];         /* as in run.json; empty: only opened */
	struct sonde_control *control; /* mapped read-write */
};

#define RING_DIR_INIT \
	{ \
		.path = BUF_INIT, .fd = -1, .parent = -1 \
	}

/* Create a ring directory; `fallback` is its parent if there is no room in memory. */
int ring_dir_create(struct ring_dir *r, const char *fallback, const struct ring_options *options,
		struct sonde_err *err);
int ring_dir_open(struct ring_dir *r, const char *path, struct sonde_err *err);
/*
 * Open the ring that the run at rundir names by path and id. -ENOENT: it does not exist any more. -EPERM: it does not
 * belong to this run; err has the reason.
 */
int ring_dir_claim(struct ring_dir *r, int rundir, const char *path, const char *id, struct sonde_err *err);
/* Remove the parts of a ring that was created or claimed, then its directory if that is empty. */
void ring_dir_remove(struct ring_dir *r);
void ring_dir_release(struct ring_dir *r);
/* Call `take` for each board; -errno if the directory cannot be listed. */
int ring_dir_boards(const struct ring_dir *r, void (*take)(void *arg, int dirfd, const char *name), void *arg);

/* How a command loads libsonde. */

/*
 * The path of $SONDE_LIBRARY or of the installed library, valid in LD_PRELOAD: a link in the ring directory if needed.
 */
int preload_library(const struct ring_dir *ring, struct buf *library, struct sonde_err *err);
/* "LD_PRELOAD=..." including the present value. */
void preload_value(struct buf *out, const char *library);

/*
 * Finds processes that still use a ring.
 *
 * The pids in a ring may be of another namespace, or reused. So processes are searched by mapped files: a process that
 * might still write maps `control`.
 */

/* The pid of another process on this machine that maps it; 0: none that we may inspect. */
pid_t writers_find(const char *ring);
/* Remove the ring of a run that is about to be removed after its recorder crashed, unless a process still uses it. */
void writers_remove_left(const char *bundle);
/* store_run_create; is_forced: replace a run in dir, and remove the ring that its recorder may have left. */
int writers_create_run(struct store_run *run, const char *dir, const char *name, bool is_forced, struct sonde_err *err);

#endif
