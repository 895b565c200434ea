/*
 * link: a connection to a fleet's NATS server, in this project's words.
 *
 * Subjects: sonde.job.<id>.event and sonde.job.<id>.report are the events of the
 * ledger (stream SONDE_JOBS, kept), sonde.queue.<id> the jobs that wait (stream
 * SONDE_QUEUE, a work queue: a message is gone when its agent acknowledges),
 * sonde.log.<id>.<epoch> what commands printed (SONDE_LOGS, the newest 256 MiB),
 * sonde.agent.<name> the agents' last heartbeats of an hour (SONDE_AGENTS),
 * sonde.files.<hash>.<number> what jobs bring with them (SONDE_FILES, the newest 4 GiB).
 *
 * Only link, lease and knobs know libnats. Calls wait two seconds at most, reads of
 * what is there ten, and fail then; the connection comes back by itself.
 */
#ifndef SONDE_FLEET_NATS_CLIENT_H
#define SONDE_FLEET_NATS_CLIENT_H

#include "base/err.h"
#include "fleet/job-state.h"

#include <stdint.h>

#define FLEET_WAIT_MS 2000

struct fleet_client; /* a handle */

int fleet_client_open(struct fleet_client **out, const char *url, const char *token, struct sonde_err *err);
void fleet_client_free(struct fleet_client *client); /* NULL is fine */
/* Make the streams and the queue, or find them made: a queue that is there keeps its lease. */
int fleet_client_prepare(struct fleet_client *client, int64_t lease_ns, struct sonde_err *err);
/*
 * Give the queue another lease. No agent may be at work: each has learnt the lease when it started, and one
 * that believes in a longer one than the server does would run beside its successor.
 */
int fleet_client_set_lease(struct fleet_client *client, int64_t lease_ns, struct sonde_err *err);

/* An event of a job ("event" or "report"): kept when this returns 0. key: the same key within two minutes is kept once;
 * NULL: none. sequence may be NULL. */
int fleet_client_publish(struct fleet_client *client, const char *id, const char *kind, const char *text,
		const char *key, uint64_t *sequence, struct sonde_err *err);
/* An event that is kept only if `after` is still the number of the job's last one: of several that try, one succeeds.
 * -EAGAIN: there is a later one. */
int fleet_client_publish_after(struct fleet_client *client, const char *id, const char *text, uint64_t after,
		uint64_t *sequence, struct sonde_err *err);
int fleet_client_queue(struct fleet_client *client, const char *id, struct sonde_err *err);
int fleet_client_log(struct fleet_client *client, const char *id, uint64_t epoch, const void *bytes, size_t n,
		const char *key, struct sonde_err *err);
int fleet_client_beat(struct fleet_client *client, const char *agent, const char *text, struct sonde_err *err);

/* Bytes under a subject of their own; the newest stay. */
int fleet_client_put(struct fleet_client *client, const char *subject, const void *bytes, size_t n,
		struct sonde_err *err);
/* Is there anything under a subject? 1, 0, or -errno. */
int fleet_client_has(struct fleet_client *client, const char *subject, struct sonde_err *err);

/* Told each message in order; a negative return ends the reading with it. time_ns: when the server got it. */
struct fleet_message {
	const char *subject;
	uint64_t sequence;
	int64_t time_ns;
	const char *bytes;
	size_t len;
};
typedef int (*fleet_read_fn)(void *arg, const struct fleet_message *m);

/* All that is kept now under a subject ("sonde.log.x.*"), oldest first. */
int fleet_client_read(struct fleet_client *client, const char *subject, fleet_read_fn fn, void *arg,
		struct sonde_err *err);
/* The events of one job, or of all (NULL), into the ledger; with_reports: the reports too. */
int fleet_client_fold(struct fleet_client *client, const char *id, bool with_reports, struct fleet_jobs *jobs_state,
		struct sonde_err *err);
/* Sequence of the last event of a job, 0 when it has none: a cheap look for news. */
int fleet_client_last(struct fleet_client *client, const char *id, uint64_t *sequence, struct sonde_err *err);

/* Follow all events into the ledger, from the first: the next one within timeout_ms. 1: there was one, and more are
 * behind it; 0: the ledger has all there is; -errno: the next call starts again, with the first event. */
int fleet_client_follow(struct fleet_client *client, int64_t timeout_ms, struct fleet_jobs *jobs_state,
		struct sonde_err *err);

#endif
