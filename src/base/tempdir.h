/*
 * tempdir: a directory of our own that does not outlive us for long.
 *
 * Whoever uses one holds a lock on it, which goes with the process however that ends. So what a killed one has left is
 * known by its name and by nobody holding it, whatever process has that number now, and the next one sweeps it away.
 * Names are shared by all who sweep: only directories that are made here may have them.
 */
#ifndef SONDE_BASE_TEMPDIR_H
#define SONDE_BASE_TEMPDIR_H

#include "base/fs.h"

struct tempdir {
	char path[FS_TEMP_BYTES]; /* empty: there is none */
	int lock;                 /* private */
};

#define TEMPDIR_INIT { .path = "" }

/* An empty NAME.XXXXXX in $TMPDIR, else /tmp. */
int tempdir_make(struct tempdir *t, const char *name, struct sonde_err *err);
void tempdir_release(struct tempdir *t); /* with all that is in it */
/* Remove what killed ones of this user have left under that name. */
void tempdir_sweep(const char *name);

#endif
