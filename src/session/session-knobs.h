/*
 * session-knobs: initial values of the application's knobs (sonde/shm.h), and whether the application uses them. A
 * knob that it never requests has no effect, which is reported.
 */
#ifndef SONDE_SESSION_SESSION_KNOBS_H
#define SONDE_SESSION_SESSION_KNOBS_H

#include "base/err.h"
#include "sonde/shm.h"

#include <stddef.h>

#define SESSION_KNOBS_MAX 16
#define SESSION_KNOB_PREFIX "knob." /* of the name of a swept knob */

struct session_knob {
	const char *name, *text;
};

struct session_knobs {
	struct sonde_knob_init wishes[SESSION_KNOBS_MAX];
	size_t count;
	uint32_t asked; /* one bit per knob */
};

/* A second value of the same name replaces the first. -E2BIG: too many. */
int session_knobs_add(struct session_knobs *k, const char *name, const char *text, struct sonde_err *err);
/* Records which of them are on the board of a process. */
void session_knobs_poll(struct session_knobs *k, int dirfd, const char *board);
int session_knobs_check(const struct session_knobs *k, struct sonde_err *err); /* -ENOENT: a knob was never requested */

#endif
