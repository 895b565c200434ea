/*
 * fleet-status: the status of a fleet.
 */
#ifndef SONDE_CLI_FLEET_STATUS_H
#define SONDE_CLI_FLEET_STATUS_H

#include "cli/cli.h"
#include "fleet/fleet-dir.h"

size_t fleet_count_living(const struct fleet_dir *home, const char *role);
/* Prints the processes of this machine, the members, and the agents known to the server: a table, or JSON. */
int fleet_print_status(struct cli_context *ctx, const struct fleet_dir *home, bool is_json);

#endif
