/*
 * ringdir: the directory that a run's processes leave their segments in.
 *
 * In memory (/dev/shm) where there is room, else beside the bundle; 0700, with a
 * control page that carries the options. A reader of somebody else's directory
 * maps the control page as it finds it and trusts nothing in it.
 *
 * A ring is removed by ring_dir_remove alone. It needs a ring that was created here
 * or claimed for a run: run.json can name any path, so the name, the owner and the
 * identity in the control page must match. Only files with the names of a ring's
 * parts are unlinked; another file stays and keeps the directory.
 */
#ifndef SONDE_RECORD_RINGDIR_H
#define SONDE_RECORD_RINGDIR_H

#include "base/buf.h"
#include "base/err.h"
#include "sonde/shm.h"

struct ring_options {
	uint32_t categories;
	uint32_t overflow;
	int64_t min_dur_ns;
	uint64_t run_bytes_max;
	uint64_t process_bytes_max;
	const char *place;           /* directory to make the ring directory in; NULL: memory, else the fallback */
	const char *const *includes; /* absolute path prefixes, NULL-terminated; NULL none */
	const char *const *excludes;
	const struct sonde_knob_init *wishes; /* what knobs shall be from their first use on */
	size_t knob_init_count;
};

#define RING_ID_TEXT 33 /* 32 hexadecimal digits and a NUL */

struct ring_dir {
	struct buf path;
	int fd;
	int parent;                    /* the directory that it is in; -1: it was only opened and cannot be removed */
	char id[RING_ID_TEXT];         /* as run.json has it; empty: it was only opened */
	struct sonde_control *control; /* mapped read-write */
};

#define RING_DIR_INIT \
	{ \
		.path = BUF_INIT, .fd = -1, .parent = -1 \
	}

/* Make one; `fallback` is the directory to use when there is no room in memory. */
int ring_dir_create(struct ring_dir *r, const char *fallback, const struct ring_options *options,
		struct sonde_err *err);
int ring_dir_open(struct ring_dir *r, const char *path, struct sonde_err *err);
/*
 * Open the ring that the run behind rundir names by path and id. -ENOENT: it is gone. -EPERM: it does not belong to
 * this run, for the reason in err.
 */
int ring_dir_claim(struct ring_dir *r, int rundir, const char *path, const char *id, struct sonde_err *err);
/* The parts of a ring that was created or claimed, then its directory if that is empty. */
void ring_dir_remove(struct ring_dir *r);
void ring_dir_release(struct ring_dir *r);
/* Each board in it; -errno when it cannot be listed. */
int ring_dir_boards(const struct ring_dir *r, void (*take)(void *arg, int dirfd, const char *name), void *arg);

#endif
