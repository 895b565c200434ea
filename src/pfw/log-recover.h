/*
 * recover: finish the logs of processes that were killed.
 *
 * Where a ring is left over, so is a link (or the ring itself) named `<log>.ring`; see
 * pfwlog.h. Recovery goes on exactly where the process's own writer stopped, and may
 * itself be killed and run again.
 *
 * A ring can be anybody's, and says where its log is: it is recovered only into the log
 * that it is named after, in the same directory, and not through a link. What is removed
 * are files with the names of a ring's parts, in a directory that the control page names
 * by its inode; another file stays and keeps the directory.
 */
#ifndef SONDE_PFW_LOG_RECOVER_H
#define SONDE_PFW_LOG_RECOVER_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct pfwlog_recovered {
	char log[4096];
	uint64_t written_events; /* that were in the log */
	uint64_t ring_events;    /* that came from the ring */
	uint64_t dropped;        /* that had found no room in it */
};

/* Does this path name a log, a ring of one, or a directory with rings in it? */
bool pfwlog_is_recoverable(const char *path);

/* Finish one; -EBUSY when its process lives, unless is_forced. The ring goes away. */
int pfwlog_recover_ring(const char *ring, bool is_forced, struct pfwlog_recovered *result, struct sonde_err *err);

/* All that `path` names. `each` hears of every one; a failure of it ends the matter. 0 or the first failure. */
int pfwlog_recover(const char *path, bool is_forced, int (*each)(void *arg, const struct pfwlog_recovered *result),
		void *arg, struct sonde_err *err);

#endif
