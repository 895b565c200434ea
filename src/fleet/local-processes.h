/*
 * local-processes: start and stop the processes of a fleet on this machine.
 *
 * Each has its own session, stdin from /dev/null and output to DIR/<role>.log. A process is
 * identified by PID and start time and signalled through a pidfd, so a reused PID is safe.
 */
#ifndef SONDE_FLEET_LOCAL_PROCESSES_H
#define SONDE_FLEET_LOCAL_PROCESSES_H

#include "fleet/fleet-dir.h"
#include "fleet/nats-client.h"

#include <stdio.h>

/*
 * Stops all processes of the role (NULL: all roles, in the right order) and updates fleet.json. Returns their number.
 */
int fleet_end(struct fleet_dir *home, const char *role, struct sonde_err *err);

/* Asks the local agents to take no more jobs, and waits until each has finished its job and exited. */
void fleet_drain(const struct fleet_dir *home);

/*
 * Starts the NATS server at an address (on a free port unless ":PORT" is given) with a new token; sets home->url and
 * home->token. -EINVAL: invalid address.
 */
int fleet_start_server(struct fleet_dir *home, const char *listen, struct arena *arena, struct sonde_err *err);
/* program: the path of sonde-fleet. */
int fleet_start_monitor(struct fleet_dir *home, const char *program, int64_t lease_ns, struct sonde_err *err);
/* label: labels of the agent, comma-separated; NULL: none. */
int fleet_start_agent(struct fleet_dir *home, const char *program, const char *label, struct sonde_err *err);
/* Starts `count` agents on each node of the current Slurm allocation: one step, one local process. */
int fleet_start_step(struct fleet_dir *home, const char *program, const char *label, int64_t count,
		struct sonde_err *err);

/*
 * The status of a fleet.
 */

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

#endif
