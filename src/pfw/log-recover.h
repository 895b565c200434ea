/*
 * log-recover: finishes the logs of processes that were killed.
 *
 * A leftover ring has a link (or is itself) named `<log>.ring`; see pfwlog.h. Recovery resumes exactly where the
 * process's own writer stopped. It may be killed and run again.
 *
 * A ring may belong to any user and names its own log, so it is untrusted: it is recovered only into the log it is
 * named after, in the same directory, and not through a link. Recovery removes only files with the names of a ring's
 * parts, in the directory with the inode that the control page names; any other file stays and keeps the directory.
 */
#ifndef SONDE_PFW_LOG_RECOVER_H
#define SONDE_PFW_LOG_RECOVER_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

struct pfwlog_recovered {
	char log[4096];
	uint64_t written_events; /* already in the log */
	uint64_t ring_events;    /* recovered from the ring */
	uint64_t dropped;        /* lost: the ring was full */
};

/* Returns whether the path names a log, a ring of one, or a directory that contains rings. */
bool pfwlog_is_recoverable(const char *path);

/* Finishes one log and removes its ring; -EBUSY if its process is alive, unless is_forced. */
int pfwlog_recover_ring(const char *ring, bool is_forced, struct pfwlog_recovered *result, struct sonde_err *err);

/* Recovers everything that `path` names. Calls `each` for every log; stops if it fails. 0 or the first error. */
int pfwlog_recover(const char *path, bool is_forced, int (*each)(void *arg, const struct pfwlog_recovered *result),
		void *arg, struct sonde_err *err);

#endif
