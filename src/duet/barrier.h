/*
 * barrier: the shared-memory barrier at which duetbench's JVM agent waits, under the agent's name for it.
 *
 * /dev/shm/java-ubench-agent<name> holds a process-shared pthread_barrier_t for two. The agent waits without a
 * timeout: if a side dies, the other would hang until its deadline, so the process that monitors the sides starts a
 * stand-in for the dead one. The layout is glibc's on this architecture, for which the agent was built too.
 */
#ifndef SONDE_DUET_BARRIER_H
#define SONDE_DUET_BARRIER_H

#include "base/err.h"

#include <sys/types.h>

#define DUET_BARRIER_PREFIX "java-ubench-agent"
#define DUET_BARRIER_SUITE "syncduet." /* name prefix of the barriers of suites, followed by a PID and a dot */

struct duet_barrier {
	char name[256]; /* as passed to the agent, without the prefix */
	/* private */
	void *memory;
	pid_t stand_in;
};

#define DUET_BARRIER_INIT { .memory = NULL }

/* Creates the barrier; -EEXIST if one of that name exists. */
int duet_barrier_open(struct duet_barrier *b, const char *name, struct sonde_err *err);
/* Starts a child process that arrives instead of a side that has exited. May be called twice. */
int duet_barrier_stand_in(struct duet_barrier *b, struct sonde_err *err);
/* Removes the barriers of suites after sonde was killed. */
void duet_barrier_remove_left(void);
/* Removes the barrier, its name and the stand-in. */
void duet_barrier_release(struct duet_barrier *b);

#endif
