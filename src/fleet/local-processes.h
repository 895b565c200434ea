/*
 * processes: starting and ending what a fleet on this machine consists of.
 *
 * Each has a session of its own, /dev/null to read and DIR/<role>.log to write to.
 * A process is ended by number and start time, through a pidfd: never another one.
 */
#ifndef SONDE_FLEET_LOCAL_PROCESSES_H
#define SONDE_FLEET_LOCAL_PROCESSES_H

#include "fleet/fleet-dir.h"

/* Start argv as a process of the fleet and write it down. */
int fleet_start(struct fleet_dir *home, const char *role, char *const argv[], struct sonde_err *err);
bool fleet_process_lives(const struct fleet_process *p);
/* End all processes of the role (NULL: of every role, in the right order) and write that down. How many there were. */
int fleet_end(struct fleet_dir *home, const char *role, struct sonde_err *err);

/* Ask the agents here to take no more jobs, and wait until each has ended the one it has, and itself. */
void fleet_drain(const struct fleet_dir *home);

/* The message server at an address (a free port of it, unless ":PORT" is behind) with a new token; home->url and token
 * are set. -EINVAL: that is no address. */
int fleet_start_server(struct fleet_dir *home, const char *listen, struct arena *arena, struct sonde_err *err);
/* `program`: the path of sonde-fleet. */
int fleet_start_monitor(struct fleet_dir *home, const char *program, int64_t lease_ns, struct sonde_err *err);
/* label: what the agent has besides, commas between several; NULL: nothing. */
int fleet_start_agent(struct fleet_dir *home, const char *program, const char *label, struct sonde_err *err);
/* `count` agents on each node of the allocation of Slurm that we are in: one step, which is one process here. */
int fleet_start_step(struct fleet_dir *home, const char *program, const char *label, int64_t count,
		struct sonde_err *err);

#endif
