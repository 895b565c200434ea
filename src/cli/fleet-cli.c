#include "cli/fleet-cli.h"

#include <errno.h>

volatile sig_atomic_t fleet_is_stopped;

static void stop(int signal)
{
	fleet_is_stopped = 1;
}

void fleet_catch_signals(void)
{
	struct sigaction action = { .sa_handler = stop, .sa_flags = (int)SA_RESETHAND };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

int fleet_connect(struct cli_context *ctx, const char *dir, struct fleet_home *home, struct fleet_link **link)
{
	int rc = fleet_home_load(home, dir, ctx->arena, ctx->err);

	if (rc < 0)
		return rc;
	if (!home->url) {
		err_set(ctx->err, ENOENT, "there is no fleet in '%s'", home->dir);
		err_hint(ctx->err, "'sonde fleet up' starts one; --dir names another");
		return -ENOENT;
	}
	return fleet_link_open(link, home->url, home->token, ctx->err);
}
