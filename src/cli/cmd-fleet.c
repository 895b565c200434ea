/*
 * sonde fleet: start and stop a message server, a monitor and agents, here and on other hosts.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/fleet-cli.h"
#include "fleet/local-processes.h"
#include "fleet/remote-hosts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND_NS INT64_C(1000000000)
#define CALL_NS (120 * SECOND_NS) /* timeout of a call to a host */

enum { JOIN_MAX = 64 << 10 };

struct options {
	const char *dir, *listen, *member, *label;
	int64_t agents, lease_ns;
	struct fleet_slots places;
	bool is_json;
};

static const struct cli_option option_rows[] = {
	{ 0, "dir", "DIR", CLI_PATH(struct options, dir), .default_words = FLEET_DIR_DEFAULT, .help = FLEET_DIR_HELP },
	{ 'n', "agents", "N", CLI_INT(struct options, agents), .default_text = "1", .min = 0, .max = 200,
			.help = "Agents to start per host (up, add); each runs one job at a time." },
	{ 0, "label", "NAME", CLI_STRING(struct options, label),
			.help = "Capability labels of these agents, comma-separated." },
	{ 0, "lease", "TIME", CLI_DURATION(struct options, lease_ns), .default_text = "15s", .min = SECOND_NS,
			.max = 3600 * SECOND_NS,
			.help = "Lease time of a job: an agent that cannot renew for this long stops its job; after "
				"half of it again the job is reassigned." },
	{ 0, "listen", "ADDRESS", CLI_STRING(struct options, listen), .default_words = "127.0.0.1",
			.help = "Address of the server (up), with an optional :PORT." },
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json), .help = "Print the status as JSON." },
	{ 0, "hosts", "LIST", CLI_WORDS(struct options, places.names), .group = "Other hosts",
			.help = "Start the agents on these hosts instead of this one; slurm: on each node of the "
				"allocation." },
	{ 0, "hosts-file", "FILE", CLI_PATH(struct options, places.file), .group = "Other hosts",
			.help = "Read hosts from a file with one 'HOST [agents=N] [label=NAME]' per line." },
	{ 0, "ssh", "COMMAND", CLI_STRING(struct options, places.shell), .group = "Other hosts",
			.default_text = "ssh -T", .help = "Remote shell command; host and command are appended." },
	{ 0, "remote", "PATH", CLI_STRING(struct options, places.remote), .group = "Other hosts",
			.default_words = "same path as here", .help = "Path of sonde on the hosts." },
	{ 0, "member", "NAME", CLI_STRING(struct options, member), .group = "Other hosts",
			.help = "Internal: name of this host in the fleet of another host." },
	CLI_OPTIONS_END,
};

static const char *own_path(struct cli_context *ctx)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (n <= 0)
		err_sys(ctx->err, errno, "cannot find the path of this program");
	return n > 0 ? arena_copy(ctx->arena, path, (size_t)n) : NULL;
}

static int add_agents_here(struct cli_context *ctx, struct fleet_dir *home)
{
	const struct options *o = ctx->options;
	const char *program = own_path(ctx);
	int rc = program ? 0 : -EIO;

	if (rc == 0 && fleet_slots_are_slurm(&o->places))
		return fleet_start_step(home, program, o->label, o->agents, ctx->err);
	for (int64_t i = 0; i < o->agents && rc == 0; i++)
		rc = fleet_start_agent(home, program, o->label, ctx->err);
	return rc;
}

/* Lets the members after the first `kept` join; removes them again if one fails. */
static int join_members(struct cli_context *ctx, struct fleet_dir *home, size_t kept, size_t from)
{
	int rc = fleet_dir_save(home, ctx->err);

	if (rc == 0)
		rc = fleet_members_call(home, home->members + from, home->member_count - from, "join", CALL_NS,
				ctx->err);
	if (rc == 0)
		return 0;
	fleet_members_call(home, home->members + from, home->member_count - from, "down", CALL_NS, NULL);
	home->member_count = kept;
	fleet_dir_save(home, NULL);
	return rc;
}

/* Starts the requested agents. is_new: the server is new, so all hosts need its address. */
static int add_agents(struct cli_context *ctx, struct fleet_dir *home, bool is_new)
{
	const struct options *o = ctx->options;
	size_t known = home->member_count;
	int rc;

	if (!fleet_slots_are_given(&o->places) || fleet_slots_are_slurm(&o->places)) {
		rc = add_agents_here(ctx, home);
		return rc < 0 || !is_new ? rc : join_members(ctx, home, known, 0);
	}
	rc = fleet_slots_take(ctx, &o->places, o->agents, o->label, home);
	if (rc < 0)
		return rc;
	/* No new host: restart the agents of the known ones. */
	return join_members(ctx, home, known, is_new || home->member_count == known ? 0 : known);
}

/* Creates the streams before the fleet is reported as up. */
static int prepare(struct cli_context *ctx, const struct fleet_dir *home)
{
	const struct options *o = ctx->options;
	struct fleet_client *client = NULL;
	int rc = fleet_client_open(&client, home->url, home->token, ctx->err);

	if (rc == 0)
		rc = fleet_client_prepare(client, o->lease_ns, ctx->err);
	if (rc == 0)
		rc = fleet_client_set_lease(client, o->lease_ns, ctx->err);
	fleet_client_free(client);
	return rc;
}

static int up(struct cli_context *ctx, struct fleet_dir *home)
{
	const struct options *o = ctx->options;
	const char *program = own_path(ctx);
	int rc = program ? 0 : -EIO;

	if (fleet_count_living(home, "server")) {
		err_set(ctx->err, EEXIST, "the fleet in '%s' is already running", home->dir);
		err_hint(ctx->err, "use 'sonde fleet add' to start more agents, 'sonde fleet down' to stop it");
		return -EEXIST;
	}
	if (fleet_slots_are_given(&o->places) && !o->listen)
		return cli_usage(ctx,
				"other hosts cannot reach a server on loopback: set --listen to an address of this "
				"machine that they can reach");
	if (rc == 0)
		rc = fleet_end(home, NULL, ctx->err); /* leftovers of a dead server */
	if (rc >= 0)
		rc = fleet_start_server(home, o->listen ? o->listen : "127.0.0.1", ctx->arena, ctx->err);
	if (rc == 0)
		rc = prepare(ctx, home);
	if (rc == 0)
		rc = fleet_start_monitor(home, program, o->lease_ns, ctx->err);
	if (rc == 0)
		rc = add_agents(ctx, home, true);
	if (rc < 0)
		fleet_end(home, NULL, NULL);
	else
		printf("%s\n", home->url);
	return rc;
}

/* Moves the members that the command line names, or all, to the front. */
static int choose(struct cli_context *ctx, struct fleet_dir *home, size_t *count)
{
	*count = ctx->arg_count > 1 ? 0 : home->member_count;
	for (size_t i = 1; i < ctx->arg_count; i++) {
		struct fleet_host *m = fleet_members_find(home, ctx->args[i]), other;

		if (!m) {
			err_set(ctx->err, ENOENT, "host '%s' not found in the fleet", ctx->args[i]);
			err_hint(ctx->err, "'sonde fleet status' lists the hosts");
			return -ENOENT;
		}
		if (m < home->members + *count)
			continue;
		other = home->members[*count];
		home->members[(*count)++] = *m;
		*m = other;
	}
	return 0;
}

/* Remote agents first: they return their jobs while the server is still running. */
static int down(struct cli_context *ctx, struct fleet_dir *home)
{
	size_t count;
	int rc = choose(ctx, home, &count), ended;

	if (rc < 0)
		return rc;
	rc = fleet_members_call(home, home->members, count, "down", CALL_NS, ctx->err);
	if (rc == 0) {
		home->member_count -= count;
		memmove(home->members, home->members + count, home->member_count * sizeof(*home->members));
	}
	if (!home->url)
		return rc;
	ended = ctx->arg_count > 1 ? fleet_dir_save(home, rc ? NULL : ctx->err)
				   : fleet_end(home, NULL, rc ? NULL : ctx->err);
	return rc < 0 || ended >= 0 ? rc : ended;
}

static int add(struct cli_context *ctx, struct fleet_dir *home)
{
	const struct options *o = ctx->options;
	const char *program = own_path(ctx);
	int rc = program ? 0 : -EIO;

	if (!home->member && !fleet_count_living(home, "server")) {
		err_set(ctx->err, ENOENT, "the fleet in '%s' is not running", home->dir);
		err_hint(ctx->err, "start it with 'sonde fleet up'");
		return -ENOENT;
	}
	if (rc == 0 && !home->member && !fleet_count_living(home, "monitor"))
		rc = fleet_start_monitor(home, program, o->lease_ns, ctx->err);
	return rc < 0 ? rc : add_agents(ctx, home, false);
}

/* Drains the chosen members; without a choice, this host too. */
static int drain(struct cli_context *ctx, struct fleet_dir *home)
{
	size_t count;
	int rc = choose(ctx, home, &count);

	if (rc < 0 || !home->url)
		return rc;
	if (ctx->arg_count == 1)
		fleet_drain(home);
	return fleet_members_call(home, home->members, count, "drain", INT64_MAX, ctx->err);
}

static int halt(struct cli_context *ctx, struct fleet_dir *home)
{
	size_t count;
	int rc = choose(ctx, home, &count), ended = 0;

	if (rc < 0 || !home->url)
		return rc;
	rc = fleet_members_call(home, home->members, count, "halt", CALL_NS, ctx->err);
	if (ctx->arg_count == 1)
		ended = fleet_end(home, "agent", rc ? NULL : ctx->err);
	return rc < 0 || ended >= 0 ? rc : ended;
}

/* Called by up or add of another host: address and token are on stdin. */
static int join(struct cli_context *ctx, struct fleet_dir *home)
{
	const struct options *o = ctx->options;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	char *room = buf_room(&text, JOIN_MAX);
	ssize_t n = 0;
	int rc;

	if (!o->member)
		return cli_usage(ctx, "join is internal to 'sonde fleet up' and 'add' and requires --member NAME");
	while (room && text.len < JOIN_MAX && (n = read(STDIN_FILENO, room + text.len, JOIN_MAX - text.len)) > 0)
		text.len += (size_t)n;
	rc = fleet_end(home, "agent", ctx->err);
	if (rc >= 0)
		rc = fleet_dir_join(home, text.data, text.len, o->member, ctx->arena, ctx->err);
	if (rc >= 0)
		rc = fleet_dir_save(home, ctx->err);
	return rc < 0 ? rc : add_agents_here(ctx, home);
}

static int status(struct cli_context *ctx, struct fleet_dir *home)
{
	const struct options *o = ctx->options;

	return fleet_print_status(home, o->is_json, ctx->arena, stdout, ctx->err);
}

static const struct action {
	const char *name;
	bool is_change, has_hosts;
	int (*act)(struct cli_context *ctx, struct fleet_dir *home);
} actions[] = {
	{ "up", true, false, up },
	{ "down", true, true, down },
	{ "add", true, false, add },
	{ "drain", false, true, drain }, /* may take long: does not lock out other commands */
	{ "halt", true, true, halt },
	{ "join", true, false, join },
	{ "status", false, false, status },
};

static int perform(struct cli_context *ctx, const struct action *action)
{
	const struct options *o = ctx->options;
	CLEANUP(cleanup_fd) int lock = -1;
	CLEANUP(buf_release) struct buf name = BUF_INIT;
	const char *dir = o->dir;
	struct fleet_dir home;
	int rc;

	if (o->member) {
		fs_safe_name(&name, o->member, FLEET_NAME_MAX - 1);
		dir = fleet_dir_of_host(o->dir, name.data, ctx->arena);
	}
	rc = fleet_dir_load(&home, dir, ctx->arena, ctx->err);
	if (rc == 0 && action->is_change) {
		lock = fleet_dir_lock(&home, ctx->err);
		rc = lock < 0 ? lock : fleet_dir_load(&home, dir, ctx->arena, ctx->err);
	}
	return rc < 0 ? rc : action->act(ctx, &home);
}

static int run(struct cli_context *ctx)
{
	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++) {
		if (strcmp(actions[i].name, ctx->args[0]) != 0)
			continue;
		if (ctx->arg_count > 1 && !actions[i].has_hosts)
			return cli_usage(ctx, "unexpected argument after %s: hosts are given by --hosts",
					actions[i].name);
		return perform(ctx, &actions[i]);
	}
	return cli_usage(ctx, "unknown action '%s' (supported: up, down, add, drain, halt, status)", ctx->args[0]);
}

static const struct cli_example examples[] = {
	{ "sonde fleet up --agents 2", "Start a server on loopback, a monitor and two agents in the background." },
	{ "sonde fleet up --listen 10.0.0.1 --hosts-file hosts", "Start the agents on the hosts of a file, by ssh." },
	{ "sonde fleet drain node7", "Let that host finish its jobs and accept no more." },
	{ "sonde fleet down", "Stop everything; jobs that were running are restarted at the next up." },
	{ NULL, NULL },
};

const struct cli_command cmd_fleet = {
	.name = "fleet",
	.usage = "[--agents N] [--listen ADDRESS] [--hosts LIST] up | down | add | drain | halt | status [HOST...]",
	.positional = { .name = "ACTION",
			.min = 1,
			.max = 1 + FLEET_MEMBERS_MAX,
			.type = CLI_TYPE_STRING,
			.help = "up, down, add (agents, and a monitor if it has died), drain (the agents finish their "
				"jobs and exit), halt (the agents exit now and their jobs return to the queue) or "
				"status. down, drain and halt accept hosts to which they apply." },
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};
