/*
 * local-processes: start and stop the processes of a fleet on this machine.
 *
 * Each has its own session, stdin from /dev/null and output to DIR/<role>.log. A process is
 * identified by PID and start time and signalled through a pidfd, so a reused PID is safe.
 */
#ifndef SONDE_FLEET_LOCAL_PROCESSES_H
#define SONDE_FLEET_LOCAL_PROCESSES_H

#include "fleet/fleet-dir.h"

/* Starts argv as a process of the fleet and adds it to fleet.json. */
int fleet_start(struct fleet_dir *home, const char *role, char *const argv[], struct sonde_err *err);
bool fleet_process_lives(const struct fleet_process *p);
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

#endif
