/*
 * process-tree: the descendants of a process, from /proc, and signals that reach only them.
 *
 * A pid read from /proc may be reused at any time. So a process is opened as a pidfd first, then its parent is
 * checked again, and only then it is signalled. tree_scan allocates nothing and may be called after fork.
 */
#ifndef SONDE_LAUNCH_PROCESS_TREE_H
#define SONDE_LAUNCH_PROCESS_TREE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tree_process {
	pid_t pid, parent;
	char state; /* as in /proc/PID/stat; Z and X are dead */
};

/* Calls `each` once for every process of the machine, until it returns false. */
int tree_scan(bool (*each)(void *arg, const struct tree_process *p), void *arg);
int tree_process_read(struct tree_process *p, pid_t pid); /* 0 or -errno */

/*
 * Signals all descendants of root, and root itself if has_root. Each gets the signal once, even if the tree grows
 * meanwhile. -EPERM names a process that we may not signal, after all others were signalled.
 */
int tree_signal(pid_t root, bool has_root, int signal, struct sonde_err *err);
/* Like tree_signal, only for processes for which `is_meant` returns true. */
int tree_signal_those(pid_t root, bool has_root, int signal, bool (*is_meant)(pid_t pid), struct sonde_err *err);
/* The nearest descendant of root for which `is_meant` returns true; 0 if none. */
pid_t tree_find(pid_t root, bool (*is_meant)(pid_t pid));
/* Number of live descendants of root, with the pid of one of them in *some; -errno on failure. */
ssize_t tree_count(pid_t root, pid_t *some);

#endif
