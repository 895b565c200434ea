/*
 * waker: everything that the recorder sleeps on: the command's end, signals, growth of the ring,
 * descriptors of probes, and the clock.
 *
 * A process that needs more room makes a file in the ring directory: that wakes us, so that it
 * gets its old, warm chunks back before it has used up many new ones. Used by the thread that
 * made it, and by it alone.
 */
#ifndef SONDE_RECORD_WAKEUP_H
#define SONDE_RECORD_WAKEUP_H

#include "probe/probe.h"

#include <poll.h>
#include <signal.h>

#define WAKER_FDS_MAX 1024

enum { WAKE_END, WAKE_SIGNAL, WAKE_GROWTH, WAKE_PROBES };

struct waker {
	struct pollfd fds[WAKER_FDS_MAX]; /* by the names above; what has happened is in their revents */
	size_t count;
	int wait_ms;     /* until the next pass over the ring; 0: there is none */
	bool is_flooded; /* the last pass found so much that there is more by now */
	/* private */
	int idle_ms; /* the longest wait_ms while nothing comes in */
	struct probe_set *probes;
	int ring; /* the directory; -1: nobody watches it */
	sigset_t old_mask;
};

/* pidfd: readable at the end. ring: its directory; NULL: there is none. */
void waker_init(struct waker *w, struct probe_set *probes, const char *ring, int pidfd, int signalfd);
/* Sleep until something happens or is due, at the latest at until_ns. Whether a probe's descriptor is ready. */
bool waker_wait(struct waker *w, int64_t until_ns);
/* So many events came in: the more, the sooner is the next pass. */
void wakeup_interval(struct waker *w, uint64_t events);
void waker_release(struct waker *w);

#endif
