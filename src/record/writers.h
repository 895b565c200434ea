/*
 * writers: finds processes that still use a ring.
 *
 * The pids in a ring may be of another namespace, or reused. So processes are searched by mapped files: a process that
 * might still write maps `control`.
 */
#ifndef SONDE_RECORD_WRITERS_H
#define SONDE_RECORD_WRITERS_H

#include "store/run-dir.h"

#include <stdbool.h>
#include <sys/types.h>

/* The pid of another process on this machine that maps it; 0: none that we may inspect. */
pid_t writers_find(const char *ring);
/* Remove the ring of a run that is about to be removed after its recorder crashed, unless a process still uses it. */
void writers_remove_left(const char *bundle);
/* store_run_create; is_forced: replace a run in dir, and remove the ring that its recorder may have left. */
int writers_create_run(struct store_run *run, const char *dir, const char *name, bool is_forced, struct sonde_err *err);

#endif
