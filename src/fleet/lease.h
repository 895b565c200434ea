/*
 * lease: the exclusive right to run one job, taken from the work queue.
 *
 * It is valid for the lease time after the last renewal confirmed by the server, counted from
 * before the renewal was sent. The server redelivers the job no sooner than half that time later.
 * The holder passes the expiry to the supervisor of the job's process tree (job_set_deadline),
 * which kills the tree then. So two trees never run at the same time, even if the holder hangs, is
 * stopped or disconnected. An expired lease is not renewed.
 */
#ifndef SONDE_FLEET_LEASE_H
#define SONDE_FLEET_LEASE_H

#include "fleet/nats-client.h"

struct fleet_queue; /* opaque: the client side of the work queue */
struct fleet_lease; /* opaque */

/* -ENOENT: the monitor has not created the queue yet. */
int fleet_queue_open(struct fleet_queue **out, struct fleet_client *client, struct sonde_err *err);
void fleet_queue_free(struct fleet_queue *q);
int64_t fleet_queue_lease_ns(const struct fleet_queue *q);
/* Waits up to timeout_ms for the next job. 1: stored in *out; 0: none; -errno on failure. */
int fleet_queue_take(struct fleet_queue *q, int64_t timeout_ms, struct fleet_lease **out, struct sonde_err *err);

const char *fleet_lease_job(const struct fleet_lease *lease); /* the job's id */
/* -ESTALE if it has expired. */
int fleet_lease_renew(struct fleet_lease *lease, struct sonde_err *err);
bool fleet_lease_is_held(const struct fleet_lease *lease);
/* CLOCK_MONOTONIC time of expiry unless renewed. */
int64_t fleet_lease_end_ns(const struct fleet_lease *lease);
/* Sequence number of its queue message: another number for the same job is a second delivery. */
uint64_t fleet_lease_message(const struct fleet_lease *lease);
/* The job is finished: it is not delivered again. */
int fleet_lease_ack(struct fleet_lease *lease, struct sonde_err *err);
/* Returns the job to the queue, delayed by about a second: this agent cannot run it. */
void fleet_lease_pass_on(struct fleet_lease *lease);
/* Returns the job to the queue immediately. */
void fleet_lease_return(struct fleet_lease *lease);
void fleet_lease_free(struct fleet_lease *lease); /* without ack or return: the job is redelivered on expiry */

#endif
