/*
 * fleet-status: the status of a fleet.
 */
#ifndef SONDE_FLEET_FLEET_STATUS_H
#define SONDE_FLEET_FLEET_STATUS_H

#include "fleet/fleet-dir.h"
#include "fleet/nats-client.h"

#include <stdio.h>

size_t fleet_count_living(const struct fleet_dir *home, const char *role);
/* Prints the processes of this machine, the members, and the agents known to the server: a table, or JSON. */
int fleet_print_status(const struct fleet_dir *home, bool is_json, struct arena *arena, FILE *out,
		struct sonde_err *err);

/* The agents of a fleet, by their last heartbeats. */

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
