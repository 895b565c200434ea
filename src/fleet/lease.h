/*
 * lease: the right to run one job, taken from the work queue.
 *
 * It is held for the lease time after the last renewal that the server is known to
 * have got, counted from before it was sent. The server delivers the job to somebody
 * else no sooner than half that time later. Who holds it gives its end to the keeper of
 * the job's tree (job_set_deadline), which ends the tree then by itself: so the holder
 * may be held up in a call, stopped or cut off, and two trees never run side by side.
 * What has ended is not renewed any more.
 */
#ifndef SONDE_FLEET_LEASE_H
#define SONDE_FLEET_LEASE_H

#include "fleet/nats-client.h"

struct fleet_queue; /* a handle: our end of the work queue */
struct fleet_lease; /* a handle */

/* -ENOENT: no monitor has made the queue yet. */
int fleet_queue_open(struct fleet_queue **out, struct fleet_client *client, struct sonde_err *err);
void fleet_queue_free(struct fleet_queue *q);
int64_t fleet_queue_lease_ns(const struct fleet_queue *q);
/* The next job, within timeout_ms. 1: *out is it; 0: there was none; -errno. */
int fleet_queue_take(struct fleet_queue *q, int64_t timeout_ms, struct fleet_lease **out, struct sonde_err *err);

const char *fleet_lease_job(const struct fleet_lease *lease); /* the job's id */
/* -ESTALE: it has ended. */
int fleet_lease_renew(struct fleet_lease *lease, struct sonde_err *err);
bool fleet_lease_is_held(const struct fleet_lease *lease);
/* CLOCK_MONOTONIC at its end, if it is not renewed. */
int64_t fleet_lease_end_ns(const struct fleet_lease *lease);
/* Which message of the queue it is: another one for the same job is a second delivery. */
uint64_t fleet_lease_message(const struct fleet_lease *lease);
/* The job is over: nobody shall get it again. */
int fleet_lease_ack(struct fleet_lease *lease, struct sonde_err *err);
/* Somebody else shall have it, in a second: it is not for us. */
void fleet_lease_pass_on(struct fleet_lease *lease);
/* Somebody else shall have it, at once. */
void fleet_lease_return(struct fleet_lease *lease);
void fleet_lease_free(struct fleet_lease *lease); /* neither: it is delivered again in time */

#endif
