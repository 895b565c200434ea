/* agent-private: shared by the two parts of an agent: the queue (agent.c) and the job (agent-job.c). */
#ifndef SONDE_FLEET_AGENT_PRIVATE_H
#define SONDE_FLEET_AGENT_PRIVATE_H

#include "fleet/agent.h"
#include "fleet/lease.h"

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
