
#include "cli/fleet-cli.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "fleet/remote-hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

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
		err_set(ctx->err, ENOENT, "no fleet found in '%s'", home->dir);
		err_hint(ctx->err, "start one with 'sonde fleet up', or select another with --dir");
		return -ENOENT;
	}
	return fleet_client_open(client, home->url, home->token, ctx->err);
}

enum { HOSTS_FILE_MAX = 1 << 20 };

bool fleet_slots_are_slurm(const struct fleet_slots *p)
{
	return p->names.count == 1 && strcmp(p->names.items[0], "slurm") == 0;
}

bool fleet_slots_are_given(const struct fleet_slots *p)
{
	return p->names.count || p->file;
}

static int take_file(struct cli_context *ctx, const char *path, const struct fleet_host *usual, struct fleet_dir *home)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc = fs_read_file(AT_FDCWD, path, HOSTS_FILE_MAX, &text, ctx->err);

	if (rc < 0)
		return rc;
	rc = fleet_members_parse(home, text.data, usual, ctx->arena, ctx->err);
	if (rc < 0)
		err_prefix(ctx->err, "'%s'", path);
	return rc;
}

int fleet_slots_take(struct cli_context *ctx, const struct fleet_slots *p, int64_t agents, const char *label,
		struct fleet_dir *home)
{
	struct fleet_host member = { .shell = p->shell, .label = label, .agents = agents };
	int rc = cli_remote_path(ctx, p->remote, &member.sonde);

	for (size_t i = 0; i < p->names.count && rc == 0; i++) {
		member.host = p->names.items[i];
		rc = fleet_members_add(home, &member, ctx->err);
	}
	if (rc == 0 && p->file)
		rc = take_file(ctx, p->file, &member, home);
	return rc;
}
