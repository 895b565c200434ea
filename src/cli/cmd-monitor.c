/*
 * sonde monitor: manage the job state of a fleet.
 */
#include "cli/fleet-cli.h"
#include "fleet/agent.h"

struct options {
	const char *dir;
	int64_t lease_ns;
};

static const struct cli_option option_rows[] = {
	{ 0, "dir", "DIR", CLI_PATH(struct options, dir), .default_words = FLEET_DIR_DEFAULT, .help = FLEET_DIR_HELP },
	{ 0, "lease", "TIME", CLI_DURATION(struct options, lease_ns), .default_text = "15s", .min = 1000000000,
			.max = 3600000000000,
			.help = "Lease time of a new queue: an agent that cannot renew for this long stops its job; "
				"after half of it again the job is reassigned." },
	CLI_OPTIONS_END,
};

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	struct fleet_dir home;
	struct fleet_client *client = NULL;
	int rc = fleet_connect(ctx, o->dir, &home, &client);

	if (rc < 0)
		return rc;
	fleet_catch_signals();
	rc = fleet_monitor_run(client, o->lease_ns, &fleet_is_stopped, ctx->err);
	fleet_client_free(client);
	return rc;
}

static const struct cli_example examples[] = {
	{ "sonde monitor", "Run in the foreground until interrupted; 'sonde fleet up' starts one in the background." },
	{ NULL, NULL },
};

const struct cli_command cmd_monitor = {
	.name = "monitor",
	.usage = "[--dir DIR] [--lease TIME]",
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};
