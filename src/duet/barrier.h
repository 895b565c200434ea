/*
 * barrier: the shared-memory barrier that the original's JVM agent waits at, under its name.
 *
 * /dev/shm/java-ubench-agent<name> holds a process-shared pthread_barrier_t for two. The agent waits without a limit:
 * when a side dies the other would hang until its time is up, so whoever watches the sides lets somebody stand in
 * for the dead one. The layout is that of glibc on this architecture, in which the agent was built too.
 */
#ifndef SONDE_DUET_BARRIER_H
#define SONDE_DUET_BARRIER_H

#include "base/err.h"

#include <sys/types.h>

#define DUET_BARRIER_PREFIX "java-ubench-agent"
#define DUET_BARRIER_SUITE "syncduet." /* names of those of suites: then a process number and a point */

struct duet_barrier {
	char name[256]; /* as the agent is told, without the prefix */
	/* private */
	void *memory;
	pid_t stand_in;
};

#define DUET_BARRIER_INIT { .memory = NULL }

/* Make it; -EEXIST when there is one of that name. */
int duet_barrier_open(struct duet_barrier *b, const char *name, struct sonde_err *err);
/* From now on a process of ours arrives in the place of a side that is gone. Fine to call twice. */
int duet_barrier_stand_in(struct duet_barrier *b, struct sonde_err *err);
/* Those of suites whose sonde was killed. */
void duet_barrier_remove_left(void);
/* Gone, with its name and whoever stands in. */
void duet_barrier_release(struct duet_barrier *b);

#endif
