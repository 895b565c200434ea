/*
 * agent-list: the agents of a fleet, by their last heartbeats.
 */
#ifndef SONDE_FLEET_AGENT_LIST_H
#define SONDE_FLEET_AGENT_LIST_H

#include "fleet/nats-client.h"

enum { FLEET_AGENTS_MAX = 4096 };

struct fleet_peer {
	const char *name;
	const char *state; /* "idle", "busy", "gone", or "silent" after ten seconds without a heartbeat */
	const char *job;   /* NULL: none */
	int64_t cpus;
	uint64_t memory_bytes; /* 0 if unknown */
	int64_t heard_ns;      /* wall time */
};

struct fleet_agents {
	struct fleet_peer *peers; /* in the arena */
	size_t count;
	struct arena *arena;
	int64_t now_ns;
};

/* Skips malformed heartbeats. */
int fleet_agents_read(struct fleet_agents *roster, struct fleet_client *client, struct arena *arena,
		struct sonde_err *err);

#endif
