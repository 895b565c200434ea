/*
 * fleet-hosts: options of `sonde fleet` for agents on other hosts.
 */
#ifndef SONDE_CLI_FLEET_HOSTS_H
#define SONDE_CLI_FLEET_HOSTS_H

#include "cli/cli.h"
#include "fleet/fleet-dir.h"

struct fleet_slots {
	struct cli_list names; /* only "slurm": the nodes of our allocation */
	const char *file, *shell, *remote;
};

bool fleet_slots_are_given(const struct fleet_slots *p); /* other hosts, or Slurm */
bool fleet_slots_are_slurm(const struct fleet_slots *p);
/* Adds the hosts as members of the fleet; `agents` and `label` are defaults for hosts without these in their file. */
int fleet_slots_take(struct cli_context *ctx, const struct fleet_slots *p, int64_t agents, const char *label,
		struct fleet_dir *home);

#endif
