/*
 * runner: the one thread of a process tree that computes, and where.
 */
#ifndef SONDE_LAUNCH_BUSY_THREAD_H
#define SONDE_LAUNCH_BUSY_THREAD_H

#include <stdbool.h>
#include <sys/types.h>

struct runner {
	pid_t task;
	int cpu; /* that it runs on, or waits for */
};

/* Of root and all below it; false: none runs now, or several do. */
bool runner_find(struct runner *r, pid_t root);
/* Does it still run, or wait to, there? */
bool runner_is_there(const struct runner *r);

#endif
