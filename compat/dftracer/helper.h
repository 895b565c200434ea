/*
 * helper: the thread that writes this process's log from its ring.
 *
 * It is not a libc thread: it is created by clone, with a separate descriptor table (so that the program neither sees
 * nor closes its descriptors, nor shares its own with it), a separate current directory, and all signals blocked.
 * libc does not count it, so a single-threaded program stays single-threaded to libc. It calls nothing that uses
 * thread-local state.
 *
 * It sleeps until a chunk is full, and also polls. After a fork the child has none until helper_start. While the
 * program changes the credentials, namespaces or seccomp filters of its threads it does not run either: helper_stop,
 * and a later helper_poke starts another.
 */
#ifndef DFTRACER_HELPER_H
#define DFTRACER_HELPER_H

#include "pfw/pfwlog.h"

/* Start it for the tracer's ring, with this setup; waits until the log is open. 0 or -errno. */
int helper_start(const struct pfwlog_setup *setup, const struct pfwlog_clock *clock);

/* Wake it up; cheap, callable by any thread, signals blocked. */
void helper_poke(void);

/* Wait until all records are consumed and the thread has exited; the log stays unfinished. */
void helper_stop(void);

/*
 * Wait until all records are consumed, the log is complete and the thread has exited. Returns the bytes and stores
 * the events that the log had before its `end`; -1 if it has no log.
 */
int64_t helper_finish(uint64_t *events);

/* In a forked child: the thread does not exist there. */
void helper_forget(void);

#endif
