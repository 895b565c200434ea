/*
 * knobs: what a session sets an application's own knobs (sonde/shm.h) to, from their first use on,
 * and whether it has asked for them: one that nobody asks for changes nothing, which must be said.
 */
#ifndef SONDE_SESSION_SESSION_KNOBS_H
#define SONDE_SESSION_SESSION_KNOBS_H

#include "base/err.h"
#include "sonde/shm.h"

#include <stddef.h>

#define SESSION_KNOBS_MAX 16
#define SESSION_KNOB_PREFIX "knob." /* of what a sweep goes over */

struct session_knob {
	const char *name, *text;
};

struct session_knobs {
	struct sonde_knob_init wishes[SESSION_KNOBS_MAX];
	size_t count;
	uint32_t asked; /* a bit each */
};

/* The later of two of one name counts. -E2BIG: too many. */
int session_knobs_add(struct session_knobs *k, const char *name, const char *text, struct sonde_err *err);
/* Note which of them are on a process's board. */
void session_knobs_poll(struct session_knobs *k, int dirfd, const char *board);
int session_knobs_check(const struct session_knobs *k, struct sonde_err *err); /* -ENOENT: one was not asked for */

#endif
