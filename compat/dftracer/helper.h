/*
 * helper: the thread that turns this process's ring into its log.
 *
 * It is no thread of libc's: made by clone itself, with a table of descriptors of its own (so
 * that the program never sees ours, cannot close them, and does not share its own with us), its
 * own current directory, all signals blocked. libc does not count it, so a program of one
 * thread stays one to libc. It calls nothing that has state in a thread.
 *
 * It sleeps until a chunk is full, and looks by itself now and then. After a fork the child has
 * none until helper_start. While the program changes what its threads may do (user, namespaces,
 * system call filters) there is none either: helper_stop, and a later helper_poke starts another.
 */
#ifndef DFTRACER_HELPER_H
#define DFTRACER_HELPER_H

#include "pfw/pfwlog.h"

/* Start it for the ring that the tracer has, with this setup; waits until the log is open. 0 or -errno. */
int helper_start(const struct pfwlog_setup *setup, const struct pfwlog_clock *clock);

/* There is something to do; cheap, for any thread, signals blocked. */
void helper_poke(void);

/* Wait until all is taken and the thread is gone; the log stays unfinished. */
void helper_stop(void);

/*
 * Wait until all is taken, the log is complete and the thread is gone. How many bytes and events the log had before
 * its `end`; -1: it has none.
 */
int64_t helper_finish(uint64_t *events);

/* In a forked child: there is no such thread. */
void helper_forget(void);

#endif
