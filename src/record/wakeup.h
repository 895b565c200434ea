/*
 * wakeup: everything that the recorder waits for: exit of the command, signals, growth of the ring, descriptors of
 * probes, and the clock.
 *
 * A process that needs more room creates a file in the ring directory. That wakes the recorder, which recycles chunks
 * that are still in the cache before the process has used many new ones. Only the creating thread may use it.
 */
#ifndef SONDE_RECORD_WAKEUP_H
#define SONDE_RECORD_WAKEUP_H

#include "probe/probe.h"

#include <poll.h>
#include <signal.h>

#define WAKER_FDS_MAX 1024

enum { WAKE_END, WAKE_SIGNAL, WAKE_GROWTH, WAKE_PROBES };

struct waker {
	struct pollfd fds[WAKER_FDS_MAX]; /* indexed by the names above; events are in revents */
	size_t count;
	int wait_ms;     /* until the next pass over the ring; 0: no pass */
	bool is_flooded; /* the last pass found so much that more is expected */
	/* private */
	int idle_ms; /* maximum of wait_ms without events */
	struct probe_set *probes;
	int ring; /* the directory; -1: not watched */
	sigset_t old_mask;
};

/* pidfd: readable on exit. ring: its directory; NULL: none. */
void waker_init(struct waker *w, struct probe_set *probes, const char *ring, int pidfd, int signalfd);
/* Wait for an event or a timeout, until until_ns at most. Returns whether a probe's descriptor is ready. */
bool waker_wait(struct waker *w, int64_t until_ns);
/* Adapt the interval of passes to the number of events of the last one. */
void wakeup_interval(struct waker *w, uint64_t events);
void waker_release(struct waker *w);

#endif
