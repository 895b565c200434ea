/*
 * fleet-status: what of a fleet lives.
 */
#ifndef SONDE_CLI_FLEET_STATUS_H
#define SONDE_CLI_FLEET_STATUS_H

#include "cli/cli.h"
#include "fleet/fleet-dir.h"

size_t fleet_count_living(const struct fleet_dir *home, const char *role);
/* Processes of this machine, members, and the agents that the server has heard of: a table, or JSON. */
int fleet_print_status(struct cli_context *ctx, const struct fleet_dir *home, bool is_json);

#endif
