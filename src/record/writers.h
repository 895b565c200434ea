/*
 * writers: does anybody still have a ring?
 *
 * The numbers of processes in a ring may be those of another namespace, or somebody else's by now. So it is asked who
 * has files of the ring mapped: a process that might still write has `control`.
 */
#ifndef SONDE_RECORD_WRITERS_H
#define SONDE_RECORD_WRITERS_H

#include "store/run-dir.h"

#include <stdbool.h>
#include <sys/types.h>

/* A process of this machine other than the caller that has it; 0: none that we may look at. */
pid_t writers_find(const char *ring);
/* The ring of a run that is about to be removed and whose recorder died: removed too, unless somebody lives in it. */
void writers_remove_left(const char *bundle);
/* store_run_create; is_forced: a run in dir is replaced, and so is the ring that its recorder may have left. */
int writers_create_run(struct store_run *run, const char *dir, const char *name, bool is_forced, struct sonde_err *err);

#endif
