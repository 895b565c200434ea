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

struct gate {
	bool is_made;
	char path[FS_TEMP_BYTES + 8];
	/* private */
	char dir[FS_TEMP_BYTES];
	int listening, waiting; /* -1: nobody */
};

#define GATE_INIT { .listening = -1, .waiting = -1 }

int gate_make(struct gate *g); /* 0 or -errno */
/* Who waits: its pid (0: one that we cannot name); -1: nobody does yet. */
pid_t gate_look(struct gate *g);
void gate_open(struct gate *g);    /* it goes on */
void gate_release(struct gate *g); /* opened or never used */

#endif
