/*
 * start-barrier: where the first process of a daemon's container (container-init.c) waits until it is observed.
 *
 * A socket that is mounted into the container. The credentials of a connection contain the pid of the process in our
 * namespace.
 */
#ifndef SONDE_LAUNCH_START_BARRIER_H
#define SONDE_LAUNCH_START_BARRIER_H

#include "base/fs.h"

#include <stdbool.h>
#include <sys/types.h>

struct start_barrier {
	bool is_made;
	char path[FS_TEMP_BYTES + 8];
	/* private */
	char dir[FS_TEMP_BYTES];
	int listening, waiting; /* -1: none */
};

#define START_BARRIER_INIT { .listening = -1, .waiting = -1 }

int start_barrier_init(struct start_barrier *g); /* 0 or -errno */
/* Pid of the waiting process (0: not visible in our pid namespace); -1: none waits yet. */
pid_t start_barrier_poll(struct start_barrier *g);
void start_barrier_open(struct start_barrier *g);    /* the waiting process continues */
void start_barrier_release(struct start_barrier *g); /* whether it was opened or not */

#endif
