/*
 * fleet-cli: shared by the fleet commands.
 */
#ifndef SONDE_CLI_FLEET_CLI_H
#define SONDE_CLI_FLEET_CLI_H

#include "cli/cli.h"
#include "fleet/fleet-dir.h"
#include "fleet/nats-client.h"

#include <signal.h>

#define FLEET_DIR_HELP "Directory of the fleet."
#define FLEET_DIR_DEFAULT "$SONDE_FLEET_DIR, or sonde/fleet in the user's state directory"

/* Set by SIGINT and SIGTERM, and by SIGUSR1, after fleet_catch_signals was called. */
extern volatile sig_atomic_t fleet_is_stopped, fleet_is_drained;
void fleet_catch_signals(void);

/*
 * Connects to the fleet of directory dir (NULL: the default one, or the server that SONDE_FLEET_URL and
 * SONDE_FLEET_TOKEN name; these are removed from our environment, so that jobs do not see them).
 */
int fleet_connect(struct cli_context *ctx, const char *dir, struct fleet_dir *home, struct fleet_client **client);

/* Options for agents on other hosts. */
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
