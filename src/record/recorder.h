/*
 * recorder: shared by record.c (main sequence) and recorder.c: isolation of the command, the events that the recorder
 * waits for, services for probes.
 */
#ifndef SONDE_RECORD_RECORDER_H
#define SONDE_RECORD_RECORDER_H

#include "launch/launch.h"
#include "probe/probe.h"
#include "record/drain.h"
#include "record/record.h"
#include "record/run-json.h"
#include "store/run-dir.h"

#include <poll.h>
#include <signal.h>

/* Limits, sandbox and timeout of the recorded command; see launch/job.h. */

/* Time between the signals of the ladder, after the timeout. */
#define PLACE_INTERRUPT_NS 2000000000
#define PLACE_TERMINATE_NS 3000000000

struct placed { /* the isolation, extended by what the tracer needs */
	struct job_isolation place;
	struct job_mount *mounts;
	char gpu_library[4096];
	struct buf hold;
};

/* Make the ring and the library visible under the same names. library NULL or "": no tracer. */
int placed_init(struct placed *p, const struct job_isolation *asked, const char *ring, const char *library,
		struct sonde_err *err);
void placed_release(struct placed *p);
/* Does the command have a PID namespace? Then the pids in its records are not ours. */
bool isolation_has_own_pids(const struct job_isolation *place);
bool isolation_has_own_programs(const struct job_isolation *place); /* argv[0] is not resolved on this host */

/* The sequence of signals that stops a command after its timeout; each call sends the next one that is due. */
struct ladder {
	int64_t due_ns; /* INT64_MAX: never */
	int rung;       /* 0: before the timeout */
	struct job_ladder how;
};

/* timeout_ns 0: no limit; how NULL: default times. */
void ladder_init(struct ladder *s, int64_t timeout_ns, const struct job_ladder *how);
void ladder_climb(struct ladder *s, struct launch *l);  /* if the next signal is due */
void ladder_finish(struct ladder *s, struct launch *l); /* the command has exited: signal the rest of its tree */

/*
 * Everything that the recorder waits for: exit of the command, signals, growth of the ring, descriptors of
 * probes, and the clock.
 *
 * A process that needs more room creates a file in the ring directory. That wakes the recorder, which recycles chunks
 * that are still in the cache before the process has used many new ones. Only the creating thread may use it.
 */
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
void waker_init(struct waker *w, struct probe_set *probes, const char *ring, int pidfd, int signals);
/* Wait for an event or a timeout, until until_ns at most. Returns whether a probe's descriptor is ready. */
bool waker_wait(struct waker *w, int64_t until_ns);
/* Adapt the interval of passes to the number of events of the last one. */
void wakeup_interval(struct waker *w, uint64_t events);
void waker_release(struct waker *w);

struct recorder {
	const struct record_options *o;
	struct store_run run;
	struct ring_dir ring;
	struct store_sink sink;
	struct drain drain;
	struct launch launch;
	struct probe_set probes;
	struct ladder ladder;
	struct run_facts facts;
	struct rusage usage;
	struct buf library;          /* the tracer's */
	struct sigaction file_limit; /* of SIGXFSZ, as the command gets it */
	bool has_ring, has_sink, has_drain, has_launch, has_probes;
	struct sonde_err reason;
	int64_t flushed_ns, probed_ns;
	uint64_t unflushed_events, unflushed_max;
};

void recorder_open_probes(struct recorder *r);
void recorder_attach_probes(void *recorder, pid_t pid); /* the command exists and waits */
void recorder_pass_probes(void *recorder); /* during a slow start of the command, so that perf rings do not overflow */
void recorder_on_program(void *recorder, pid_t pid); /* a daemon has started the program, which waits for us */

#endif
