/*
 * sonde fleet: start and stop a message server, a monitor and agents on this machine.
 */
#include "base/cleanup.h"
#include "cli/fleet-cli.h"
#include "cli/term.h"
#include "fleet/processes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)

struct options {
	const char *dir;
	int64_t agents, lease_ns;
	bool is_json;
};

static const struct cli_option option_rows[] = {
	{ 0, "dir", "DIR", CLI_PATH(struct options, dir), .default_words = FLEET_DIR_DEFAULT, .help = FLEET_DIR_HELP },
	{ 'n', "agents", "N", CLI_INT(struct options, agents), .default_text = "1", .min = 0, .max = 200,
			.help = "How many agents up and add start: each runs one job at a time." },
	{ 0, "lease", "TIME", CLI_DURATION(struct options, lease_ns), .default_text = "15s", .min = SECOND_NS,
			.max = 3600 * SECOND_NS,
			.help = "An agent that cannot renew for this long ends its job; half as long later another "
				"gets it." },
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json), .help = "Print the status as JSON." },
	CLI_OPTIONS_END,
};

static const char *own_path(struct cli_context *ctx)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	return n > 0 ? arena_copy(ctx->arena, path, (size_t)n) : NULL;
}

static size_t count_living(const struct fleet_home *home, const char *role)
{
	size_t n = 0;

	for (size_t i = 0; i < home->count; i++)
		n += strcmp(home->processes[i].role, role) == 0 && fleet_process_lives(&home->processes[i]);
	return n;
}

static int add_agents(struct cli_context *ctx, struct fleet_home *home)
{
	const struct options *o = ctx->options;
	const char *program = own_path(ctx);
	int rc = 0;

	if (!program)
		return err_sys(ctx->err, errno, "cannot find this program's own path");
	for (int64_t i = 0; i < o->agents && rc == 0; i++)
		rc = fleet_start_agent(home, program, ctx->err);
	return rc;
}

/* The streams are there before anybody can be told that the fleet is up. */
static int prepare(struct cli_context *ctx, const struct fleet_home *home)
{
	const struct options *o = ctx->options;
	struct fleet_link *link = NULL;
	int rc = fleet_link_open(&link, home->url, home->token, ctx->err);

	if (rc == 0)
		rc = fleet_link_prepare(link, o->lease_ns, ctx->err);
	if (rc == 0)
		rc = fleet_link_set_lease(link, o->lease_ns, ctx->err);
	fleet_link_free(link);
	return rc;
}

static int up(struct cli_context *ctx, struct fleet_home *home)
{
	const struct options *o = ctx->options;
	const char *program = own_path(ctx);
	int rc;

	if (count_living(home, "server")) {
		err_set(ctx->err, EEXIST, "the fleet in '%s' is up already", home->dir);
		err_hint(ctx->err, "'sonde fleet add' starts more agents, 'sonde fleet down' ends it");
		return -EEXIST;
	}
	if (!program)
		return err_sys(ctx->err, errno, "cannot find this program's own path");
	rc = fleet_end(home, NULL, ctx->err); /* what a dead server has left behind: no agent is at work now */
	if (rc >= 0)
		rc = fleet_start_server(home, ctx->arena, ctx->err);
	if (rc == 0)
		rc = prepare(ctx, home);
	if (rc == 0)
		rc = fleet_start_monitor(home, program, o->lease_ns, ctx->err);
	if (rc == 0)
		rc = add_agents(ctx, home);
	if (rc < 0)
		fleet_end(home, NULL, NULL);
	else
		printf("%s\n", home->url);
	return rc;
}

static int down(struct cli_context *ctx, struct fleet_home *home)
{
	int rc = home->url ? fleet_end(home, NULL, ctx->err) : 0;

	return rc < 0 ? rc : 0;
}

static int add(struct cli_context *ctx, struct fleet_home *home)
{
	const struct options *o = ctx->options;
	const char *program = own_path(ctx);
	int rc = 0;

	if (!count_living(home, "server")) {
		err_set(ctx->err, ENOENT, "the fleet in '%s' is not up", home->dir);
		err_hint(ctx->err, "'sonde fleet up' starts it");
		return -ENOENT;
	}
	if (!count_living(home, "monitor"))
		rc = program ? fleet_start_monitor(home, program, o->lease_ns, ctx->err)
			     : err_sys(ctx->err, errno, "cannot find this program's own path");
	return rc < 0 ? rc : add_agents(ctx, home);
}

static int drain(struct cli_context *ctx, struct fleet_home *home)
{
	int rc = home->url ? fleet_end(home, "agent", ctx->err) : 0;

	return rc < 0 ? rc : 0;
}

static int status(struct cli_context *ctx, struct fleet_home *home)
{
	static const struct term_column columns[] = { { "role" }, { "process", TERM_RIGHT }, { "state" } };
	const struct options *o = ctx->options;
	struct term_table t;
	int rc;

	if (o->is_json) {
		printf("{\"is_up\":%s,\"agents\":%zu,\"monitors\":%zu}\n",
				count_living(home, "server") ? "true" : "false", count_living(home, "agent"),
				count_living(home, "monitor"));
		return 0;
	}
	term_table_init(&t, columns, 3);
	for (size_t i = 0; i < home->count; i++) {
		term_table_cell(&t, TERM_PLAIN, home->processes[i].role);
		term_table_cellf(&t, "%d", (int)home->processes[i].pid);
		term_table_cell(&t, TERM_PLAIN, fleet_process_lives(&home->processes[i]) ? "lives" : "dead");
	}
	rc = term_table_print(&t, stdout);
	term_table_release(&t);
	return rc;
}

static const struct action {
	const char *name;
	bool is_change;
	int (*act)(struct cli_context *ctx, struct fleet_home *home);
} actions[] = {
	{ "up", true, up },
	{ "down", true, down },
	{ "add", true, add },
	{ "drain", true, drain },
	{ "status", false, status },
};

static int perform(struct cli_context *ctx, const struct action *action)
{
	const struct options *o = ctx->options;
	CLEANUP(cleanup_fd) int lock = -1;
	struct fleet_home home;
	int rc = fleet_home_load(&home, o->dir, ctx->arena, ctx->err);

	if (rc == 0 && action->is_change) {
		lock = fleet_home_lock(&home, ctx->err);
		rc = lock < 0 ? lock : fleet_home_load(&home, o->dir, ctx->arena, ctx->err);
	}
	return rc < 0 ? rc : action->act(ctx, &home);
}

static int run(struct cli_context *ctx)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (strcmp(actions[i].name, ctx->args[0]) == 0)
			return perform(ctx, &actions[i]);
	return cli_usage(ctx, "there is no '%s': there are up, down, add, drain and status", ctx->args[0]);
}

static const struct cli_example examples[] = {
	{ "sonde fleet up --agents 2", "A server on loopback, a monitor and two agents, in the background." },
	{ "sonde fleet down", "End all of it; jobs that ran are started again at the next up." },
	{ NULL, NULL },
};

const struct cli_command cmd_fleet = {
	.name = "fleet",
	.usage = "[--dir DIR] [--agents N] [--lease TIME] up | down | add | drain | status",
	.positional = { .name = "ACTION",
			.min = 1,
			.max = 1,
			.type = CLI_TYPE_STRING,
			.help = "up, down, add (agents, and a monitor if it has died), drain (end the agents) or "
				"status." },
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};
