/*
 * tree: the processes that descend from one, as /proc tells it, and signals for
 * them that can hit nobody else.
 *
 * A pid read from /proc may be somebody else's a moment later. So a process is
 * held by a pidfd first, its parent is looked at again, and only then is it sent
 * a signal. tree_scan allocates nothing and is fit for use after a fork.
 */
#ifndef SONDE_LAUNCH_PROCESS_TREE_H
#define SONDE_LAUNCH_PROCESS_TREE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tree_process {
	pid_t pid, parent;
	char state; /* as /proc/PID/stat has it; Z and X are dead */
};

/* Every process of the machine, once, until `each` returns false. */
int tree_scan(bool (*each)(void *arg, const struct tree_process *p), void *arg);
int tree_process_read(struct tree_process *p, pid_t pid); /* 0 or -errno */

/* A signal for all that descend from root, and root itself if told so: each gets it once, however many they become
 * meanwhile. -EPERM names a process that is not ours to signal, after all others have had it. */
int tree_signal(pid_t root, bool has_root, int signal, struct sonde_err *err);
/* As tree_signal, for those only that `is_meant` says. */
int tree_signal_those(pid_t root, bool has_root, int signal, bool (*is_meant)(pid_t pid), struct sonde_err *err);
/* One below root, nearest first, of which `is_meant` says yes; 0: there is none. */
pid_t tree_find(pid_t root, bool (*is_meant)(pid_t pid));
/* How many live below root; pid of one of them in *some when there is one. Negative errno. */
ssize_t tree_count(pid_t root, pid_t *some);

#endif
