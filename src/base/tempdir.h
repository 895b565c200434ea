/*
 * tempdir: a private temporary directory that is removed even if its process is killed.
 *
 * Each process holds a lock on its directory; the lock goes away with the process, however it ends. A leftover of a
 * killed process is recognized by its name and by not being locked, so reused process IDs do not matter. The next
 * process with the same name removes it. Only directories created here may use these names.
 */
#ifndef SONDE_BASE_TEMPDIR_H
#define SONDE_BASE_TEMPDIR_H

#include "base/fs.h"

struct tempdir {
	char path[FS_TEMP_BYTES]; /* empty: no directory */
	int lock;                 /* private */
};

#define TEMPDIR_INIT { .path = "" }

/* Creates an empty NAME.XXXXXX in $TMPDIR, else /tmp. */
int tempdir_make(struct tempdir *t, const char *name, struct sonde_err *err);
void tempdir_release(struct tempdir *t); /* removes it with its contents */
/* Removes the directories of this name that killed processes of this user have left. */
void tempdir_sweep(const char *name);

#endif
