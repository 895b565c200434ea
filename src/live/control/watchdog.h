/*
 * watchdog: a process that reverts all changes when the controller dies, hangs or ends.
 *
 * Before a change is made, the watchdog records the original value. When the controller's end of the socket closes,
 * even by SIGKILL, or when its lease expires without a heartbeat, the watchdog restores the recorded values, the
 * latest first, and logs it. It is a fork without exec, in a separate session; it keeps no other descriptor.
 */
#ifndef SONDE_LIVE_CONTROL_WATCHDOG_H
#define SONDE_LIVE_CONTROL_WATCHDOG_H

#include "base/journal.h"
#include "live/control/change.h"

#include <sys/types.h>

#define WATCHDOG_CHANGES_MAX 512

struct watchdog {
	int sock; /* -1: none */
	pid_t pid;
	int64_t lease_ns;
};

/* Call it before there are threads. */
int watchdog_start(struct watchdog *w, int64_t lease_ns, struct journal *journal, struct sonde_err *err);
/* Records the original value before the first change; -EPIPE: the watchdog is dead. */
int watchdog_remember(struct watchdog *w, const struct change_place *place, const char *before);
int watchdog_forget(struct watchdog *w, const struct change_place *place); /* the original value was restored */
int watchdog_beat(struct watchdog *w);
/* Closes the socket and waits until all changes are reverted. */
void watchdog_end(struct watchdog *w);

#endif
