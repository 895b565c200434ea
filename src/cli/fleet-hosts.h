/*
 * fleet-hosts: where `sonde fleet` starts agents besides here, as its options say it.
 */
#ifndef SONDE_CLI_FLEET_HOSTS_H
#define SONDE_CLI_FLEET_HOSTS_H

#include "cli/cli.h"
#include "fleet/fleet-dir.h"

struct fleet_slots {
	struct cli_list names; /* "slurm" alone: the nodes of our allocation */
	const char *file, *shell, *remote;
};

bool fleet_slots_are_given(const struct fleet_slots *p); /* other hosts, or Slurm's */
bool fleet_slots_are_slurm(const struct fleet_slots *p);
/* The hosts become members of the home, with `agents` and `label` where their file does not say. */
int fleet_slots_take(struct cli_context *ctx, const struct fleet_slots *p, int64_t agents, const char *label,
		struct fleet_dir *home);

#endif
