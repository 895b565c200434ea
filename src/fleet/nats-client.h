/*
 * nats-client: a connection to a fleet's NATS server.
 *
 * Subjects: sonde.job.<id>.event and sonde.job.<id>.report are the events of the job state (stream
 * SONDE_JOBS, kept), sonde.queue.<id> the queued jobs (stream SONDE_QUEUE, a work queue:
 * acknowledging a message removes it), sonde.log.<id>.<epoch> the output of commands (SONDE_LOGS,
 * the newest 256 MiB), sonde.agent.<name> the agents' last heartbeats, for an hour (SONDE_AGENTS),
 * sonde.files.<hash>.<number> the uploaded files of jobs (SONDE_FILES, the newest 4 GiB).
 *
 * Only nats-client, lease and fleet-knobs use libnats. Calls time out after two seconds, reads of
 * existing messages after ten; the connection is restored automatically.
 */
#ifndef SONDE_FLEET_NATS_CLIENT_H
#define SONDE_FLEET_NATS_CLIENT_H

#include "base/err.h"
#include "fleet/job-state.h"

#include <stdint.h>

#define FLEET_WAIT_MS 2000

struct fleet_client; /* opaque */

int fleet_client_open(struct fleet_client **out, const char *url, const char *token, struct sonde_err *err);
void fleet_client_free(struct fleet_client *client); /* NULL is allowed */
/* Creates the streams and the queue if missing; an existing queue keeps its lease time. */
int fleet_client_prepare(struct fleet_client *client, int64_t lease_ns, struct sonde_err *err);
/*
 * Changes the lease time of the queue. No agent may be running: each reads the lease time at its start, and one that
 * assumes a longer one than the server would run at the same time as its successor.
 */
int fleet_client_set_lease(struct fleet_client *client, int64_t lease_ns, struct sonde_err *err);

/*
 * Publishes an event of a job; kind: "event" or "report". It is stored when this returns 0. Events with the same key
 * within two minutes are stored once; key and sequence may be NULL.
 */
int fleet_client_publish(struct fleet_client *client, const char *id, const char *kind, const char *text,
		const char *key, uint64_t *sequence, struct sonde_err *err);
/*
 * Publishes an event only if `after` is still the sequence of the job's last one: of several writers one succeeds.
 * -EAGAIN: there is a later event.
 */
int fleet_client_publish_after(struct fleet_client *client, const char *id, const char *text, uint64_t after,
		uint64_t *sequence, struct sonde_err *err);
int fleet_client_queue(struct fleet_client *client, const char *id, struct sonde_err *err);
int fleet_client_log(struct fleet_client *client, const char *id, uint64_t epoch, const void *bytes, size_t n,
		const char *key, struct sonde_err *err);
int fleet_client_beat(struct fleet_client *client, const char *agent, const char *text, struct sonde_err *err);

/* Stores bytes under a subject; the stream drops the oldest. */
int fleet_client_put(struct fleet_client *client, const char *subject, const void *bytes, size_t n,
		struct sonde_err *err);
/* Does the subject have a message? 1, 0, or -errno. */
int fleet_client_has(struct fleet_client *client, const char *subject, struct sonde_err *err);

/*
 * A message passed to fleet_read_fn, in order; a negative return of it stops reading and is returned. time_ns: when
 * the server received it.
 */
struct fleet_message {
	const char *subject;
	uint64_t sequence;
	int64_t time_ns;
	const char *bytes;
	size_t len;
};
typedef int (*fleet_read_fn)(void *arg, const struct fleet_message *m);

/* Reads all stored messages of a subject ("sonde.log.x.*"), oldest first. */
int fleet_client_read(struct fleet_client *client, const char *subject, fleet_read_fn fn, void *arg,
		struct sonde_err *err);
/* Applies the events of one job, or of all (NULL), to the job state; with_reports: reports too. */
int fleet_client_fold(struct fleet_client *client, const char *id, bool with_reports, struct fleet_jobs *jobs_state,
		struct sonde_err *err);
/* Sequence of the last event of a job, 0 if none: a cheap poll for changes. */
int fleet_client_last(struct fleet_client *client, const char *id, uint64_t *sequence, struct sonde_err *err);

/*
 * Follows all events from the first one: waits up to timeout_ms for the next and applies it. 1: applied one, more may
 * follow; 0: up to date; -errno on failure, then the next call starts over at the first event.
 */
int fleet_client_follow(struct fleet_client *client, int64_t timeout_ms, struct fleet_jobs *jobs_state,
		struct sonde_err *err);

#endif
