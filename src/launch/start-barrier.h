/*
 * gate: where the first process of a daemon's container (container-init.c) waits until it is observed.
 *
 * A socket that is mounted into the container; who connects to it says by that who it is,
 * in our numbers.
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
	int listening, waiting; /* -1: nobody */
};

#define START_BARRIER_INIT { .listening = -1, .waiting = -1 }

int start_barrier_init(struct start_barrier *g); /* 0 or -errno */
/* Who waits: its pid (0: one that we cannot name); -1: nobody does yet. */
pid_t start_barrier_poll(struct start_barrier *g);
void start_barrier_open(struct start_barrier *g);    /* it goes on */
void start_barrier_release(struct start_barrier *g); /* opened or never used */

#endif
