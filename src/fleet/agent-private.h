/* agent-private: what the two halves of an agent share: the queue's (agent.c) and a job's (agent-job.c). */
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

/* A heartbeat, if one is due. job NULL: none. */
void agent_beat(struct agent *a, const char *job, const char *state);
/* Run the command from start to end, or until the lease is gone; it is ours by the claim `epoch`. */
void agent_run_job(struct agent *a, struct fleet_lease *lease, const struct fleet_job *job, uint64_t epoch);
/* Tell the end for as long as we may: what cannot be told is done again by the next. why NULL: nothing to add. */
int agent_tell_end(struct agent *a, struct fleet_lease *lease, uint64_t epoch, int exit_code, const char *why);

#endif
