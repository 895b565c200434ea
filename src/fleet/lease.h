/*
 * lease: the right to run one job, taken from the work queue.
 *
 * It is held for the lease time after the last renewal that the server is known to
 * have got, counted from before it was sent. The server delivers the job to somebody
 * else no sooner than half that time later: that is how long who holds it has to notice
 * that fleet_lease_is_held turned false and to end its tree. On a cut network a caller
 * may be held up in several calls of 2 s each, so leases of less than some 16 s may
 * let two trees run for a while; of what they say only the successor's counts.
 */
#ifndef SONDE_FLEET_LEASE_H
#define SONDE_FLEET_LEASE_H

#include "fleet/link.h"

struct fleet_queue; /* a handle: our end of the work queue */
struct fleet_lease; /* a handle */

/* -ENOENT: no monitor has made the queue yet. */
int fleet_queue_open(struct fleet_queue **out, struct fleet_link *link, struct sonde_err *err);
void fleet_queue_free(struct fleet_queue *q);
int64_t fleet_queue_lease_ns(const struct fleet_queue *q);
/* The next job, within timeout_ms. 1: *out is it; 0: there was none; -errno. */
int fleet_queue_take(struct fleet_queue *q, int64_t timeout_ms, struct fleet_lease **out, struct sonde_err *err);

const char *fleet_lease_job(const struct fleet_lease *lease); /* the job's id */
int fleet_lease_renew(struct fleet_lease *lease, struct sonde_err *err);
bool fleet_lease_is_held(const struct fleet_lease *lease);
/* The job is over: nobody shall get it again. */
int fleet_lease_settle(struct fleet_lease *lease, struct sonde_err *err);
/* Somebody else shall have it, at once. */
void fleet_lease_return(struct fleet_lease *lease);
void fleet_lease_free(struct fleet_lease *lease); /* neither: it is delivered again in time */

#endif
