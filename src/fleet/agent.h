/*
 * agent: runs the jobs of a fleet on this machine, one at a time.
 *
 * It takes a lease, claims the job with an event (its sequence number is the lease's epoch), runs
 * the command with launch/job, sends its output and reports in batches, and reports its end. If the
 * lease cannot be renewed, another agent has claimed the job, or the job is cancelled, it kills the
 * process tree. If the agent is killed, the supervisor of launch/job kills the tree, and the queue
 * delivers the job again.
 *
 * The command gets SONDE_JOB_ID, SONDE_JOB_EPOCH and SONDE_JOB_FD: a socket to which it writes
 * lines `report STEP LOSS` and from which it reads `knob NAME VALUE` (job-decisions.h) and `stop`, a
 * request to exit; ten seconds later it is killed.
 */
#ifndef SONDE_FLEET_AGENT_H
#define SONDE_FLEET_AGENT_H

#include "fleet/nats-client.h"

#include <signal.h>

/*
 * The exclusive right to run one job, taken from the work queue.
 *
 * It is valid for the lease time after the last renewal confirmed by the server, counted from
 * before the renewal was sent. The server redelivers the job no sooner than half that time later.
 * The holder passes the expiry to the supervisor of the job's process tree (job_set_deadline),
 * which kills the tree then. So two trees never run at the same time, even if the holder hangs, is
 * stopped or disconnected. An expired lease is not renewed.
 */

struct fleet_queue; /* opaque: the client side of the work queue */
struct fleet_lease; /* opaque */

int64_t fleet_queue_lease_ns(const struct fleet_queue *q);
const char *fleet_lease_job(const struct fleet_lease *lease); /* the job's id */
/* -ESTALE if it has expired. */
int fleet_lease_renew(struct fleet_lease *lease, struct sonde_err *err);
bool fleet_lease_is_held(const struct fleet_lease *lease);
/* CLOCK_MONOTONIC time of expiry unless renewed. */
int64_t fleet_lease_end_ns(const struct fleet_lease *lease);
/* The job is finished: it is not delivered again. */
int fleet_lease_ack(struct fleet_lease *lease, struct sonde_err *err);
/* Returns the job to the queue immediately. */
void fleet_lease_return(struct fleet_lease *lease);
struct fleet_agent_options {
	const char *name;
	struct fleet_offer offer;
	const volatile sig_atomic_t *is_stopped; /* stop now: a running job is killed and returned to the queue */
	const volatile sig_atomic_t *is_drained; /* take no more jobs: return when the running one has ended */
};

int fleet_agent_run(struct fleet_client *client, const struct fleet_agent_options *o, struct sonde_err *err);

/* The monitor queues submitted jobs and stops those that have reached their target. It is stateless: it follows the
 * events from the first one, and each action is an event or idempotent, so it may be killed at any time. */

/* Runs until *is_stopped. */
int fleet_monitor_run(struct fleet_client *client, int64_t lease_ns, const volatile sig_atomic_t *is_stopped,
		struct sonde_err *err);

/* Private: between the queue (agent.c) and the job (agent-job.c). */

struct agent {
	const struct fleet_agent_options *o;
	struct fleet_client *client;
	struct fleet_queue *queue;
	int64_t beat_ns; /* last heartbeat */
};

/* Sends a heartbeat if one is due. job: NULL if none. */
void agent_beat(struct agent *a, const char *job, const char *state);
/* Runs the command until it exits or the lease is lost. `epoch` is that of our claim. */
void agent_run_job(struct agent *a, struct fleet_lease *lease, const struct fleet_job *job, uint64_t epoch);
/*
 * Reports the end of the job, retrying while the lease lasts; after that the job is delivered again. why may be NULL.
 */
int agent_tell_end(struct agent *a, struct fleet_lease *lease, uint64_t epoch, int exit_code, const char *why);

#endif
