/*
 * warden: a process that puts everything back when the controller dies, hangs or ends.
 *
 * Before a change is made the warden is told what stood there. When the controller's end of
 * the socket closes, by SIGKILL too, or when it was silent for longer than its lease, the
 * warden writes back what it was told, the last first, and says so in the journal. It is a
 * fork of us that executes nothing, in a session of its own; it keeps no other descriptor.
 */
#ifndef SONDE_LIVE_CONTROL_WATCHDOG_H
#define SONDE_LIVE_CONTROL_WATCHDOG_H

#include "base/err.h"
#include "live/control/change.h"

#include <sys/types.h>

#define WATCHDOG_CHANGES_MAX 512

struct watchdog {
	int sock; /* -1: none */
	pid_t pid;
	int64_t lease_ns;
	int journal_fd;
};

/* Before there are threads. */
int watchdog_start(struct watchdog *w, int64_t lease_ns, int journal_fd, struct sonde_err *err);
/* What stood there, before it is changed for the first time; -EPIPE: the warden is gone. */
int watchdog_remember(struct watchdog *w, const struct change_place *place, const char *before);
int watchdog_forget(struct watchdog *w, const struct change_place *place); /* it stands there again */
int watchdog_beat(struct watchdog *w);
/* Close, and wait until everything stands as it was. */
void watchdog_end(struct watchdog *w);

#endif
