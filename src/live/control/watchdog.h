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

#define WARDEN_CHANGES_MAX 512

struct warden {
	int sock; /* -1: none */
	pid_t pid;
	int64_t lease_ns;
	int journal_fd;
};

/* Before there are threads. */
int warden_start(struct warden *w, int64_t lease_ns, int journal_fd, struct sonde_err *err);
/* What stood there, before it is changed for the first time; -EPIPE: the warden is gone. */
int warden_remember(struct warden *w, const struct change_place *place, const char *before);
int warden_forget(struct warden *w, const struct change_place *place); /* it stands there again */
int warden_beat(struct warden *w);
/* Close, and wait until everything stands as it was. */
void warden_end(struct warden *w);

#endif
