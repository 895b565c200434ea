/*
 * agent: runs the jobs of a fleet on this machine, one at a time.
 *
 * It takes a lease, claims the job with an event whose number is the lease's epoch,
 * runs the command with launch/job, sends what it prints and reports in batches,
 * and tells its end. When it cannot renew, when somebody else has claimed the job,
 * or when the job is cancelled, the whole tree ends. Killed without a word, the
 * tree goes too (launch/job's keeper), and the queue delivers the job again.
 *
 * The command finds SONDE_JOB_ID, SONDE_JOB_EPOCH and SONDE_JOB_FD: a socket to
 * which it writes lines `report STEP LOSS` and from which it reads `knob NAME VALUE`
 * (fleet-knobs.h) and `stop`, the word that it shall end by itself; ten seconds later it is
 * ended.
 */
#ifndef SONDE_FLEET_AGENT_H
#define SONDE_FLEET_AGENT_H

#include "fleet/nats-client.h"

#include <signal.h>

struct fleet_agent_options {
	const char *name;
	struct fleet_offer offer;
	const volatile sig_atomic_t *is_stopped; /* end now: a job that runs is ended and given back to the queue */
	const volatile sig_atomic_t *is_drained; /* take no more jobs: end when the one that runs has */
};

int fleet_agent_run(struct fleet_client *client, const struct fleet_agent_options *o, struct sonde_err *err);

#endif
