/*
 * busy-thread: finds the only running thread of a process tree and its CPU.
 */
#ifndef SONDE_LAUNCH_BUSY_THREAD_H
#define SONDE_LAUNCH_BUSY_THREAD_H

#include <stdbool.h>
#include <sys/types.h>

struct runner {
	pid_t task;
	int cpu; /* that it runs on or waits for */
};

/* Searches root and its descendants. Returns false if no thread or more than one is runnable. */
bool runner_find(struct runner *r, pid_t root);
/* Is the thread still running, or runnable, on that CPU? */
bool runner_is_there(const struct runner *r);

#endif
