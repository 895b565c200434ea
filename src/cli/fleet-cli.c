#include "cli/fleet-cli.h"

#include <errno.h>
#include <stdlib.h>

volatile sig_atomic_t fleet_is_stopped, fleet_is_drained;

static void stop(int signal)
{
	fleet_is_stopped = 1;
}

static void drain(int signal)
{
	fleet_is_drained = 1;
}

void fleet_catch_signals(void)
{
	struct sigaction action = { .sa_handler = stop, .sa_flags = (int)SA_RESETHAND };
	struct sigaction wait = { .sa_handler = drain, .sa_flags = SA_RESTART };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGUSR1, &wait, NULL);
}

int fleet_connect(struct cli_context *ctx, const char *dir, struct fleet_dir *home, struct fleet_client **client)
{
	const char *url = getenv("SONDE_FLEET_URL"), *token = getenv("SONDE_FLEET_TOKEN");
	int rc = fleet_dir_load(home, dir, ctx->arena, ctx->err);

	if (rc < 0)
		return rc;
	if (!dir && url && token) {
		home->url = arena_strdup(ctx->arena, url);
		home->token = arena_strdup(ctx->arena, token);
	}
	unsetenv("SONDE_FLEET_URL");
	unsetenv("SONDE_FLEET_TOKEN");
	if (!home->url || !home->token) {
		err_set(ctx->err, ENOENT, "there is no fleet in '%s'", home->dir);
		err_hint(ctx->err, "'sonde fleet up' starts one; --dir names another");
		return -ENOENT;
	}
	return fleet_client_open(client, home->url, home->token, ctx->err);
}
