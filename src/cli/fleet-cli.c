/*
 * fleet-cli: what the fleet commands share, and the two that `sonde fleet` starts: agent and monitor.
 */
#include "cli/fleet-cli.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "fleet/agent.h"
#include "fleet/remote-hosts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <unistd.h>

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

int fleet_slots_take(struct cli_context *ctx, const struct fleet_slots *p, int64_t agents, const char *label,
		struct fleet_dir *home)
{
	struct fleet_host member = { .shell = p->shell, .label = label, .agents = agents };
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc = cli_remote_path(ctx, p->remote, &member.sonde);

	for (size_t i = 0; i < p->names.count && rc == 0; i++) {
		member.host = p->names.items[i];
		rc = fleet_members_add(home, &member, ctx->err);
	}
	if (rc < 0 || !p->file)
		return rc;
	rc = fs_read_file(AT_FDCWD, p->file, HOSTS_FILE_MAX, &text, ctx->err);
	if (rc < 0)
		return rc;
	rc = fleet_members_parse(home, text.data, &member, ctx->arena, ctx->err);
	if (rc < 0)
		err_prefix(ctx->err, "'%s'", p->file);
	return rc;
}

/* sonde agent: run the jobs of a fleet on this machine. */

struct agent_options {
	const char *dir, *name;
	int64_t cpus;
	uint64_t memory_bytes;
	struct cli_list labels;
};

static const struct cli_option agent_rows[] = {
	{ 0, "dir", "DIR", CLI_PATH(struct agent_options, dir), .default_words = FLEET_DIR_DEFAULT,
			.help = FLEET_DIR_HELP },
	{ 0, "name", "NAME", CLI_STRING(struct agent_options, name), .default_words = "the host name and process ID",
			.help = "Name of this agent in the fleet." },
	{ 0, "cpus", "N", CLI_INT(struct agent_options, cpus), .default_words = "all", .min = 1, .max = 1 << 20,
			.help = "CPUs that this agent offers to jobs." },
	{ 0, "memory", "SIZE", CLI_SIZE(struct agent_options, memory_bytes), .default_words = "all",
			.help = "Memory that this agent offers to jobs." },
	{ 0, "label", "NAME", CLI_WORDS(struct agent_options, labels),
			.help = "Capability label of this agent, such as gpu or fast-disk." },
	CLI_OPTIONS_END,
};

/* The name is one token of a NATS subject: no dots. */
static void name_of(const struct agent_options *o, const struct fleet_dir *home, struct buf *out)
{
	CLEANUP(buf_release) struct buf raw = BUF_INIT;
	char host[128] = "";

	gethostname(host, sizeof(host) - 1);
	if (o->name)
		buf_adds(&raw, o->name);
	else
		buf_addf(&raw, "%.40s-%d", home->member ? home->member : host, (int)getpid());
	fs_safe_name(out, raw.data, FLEET_NAME_MAX - 1);
	for (char *c = out->data; *c; c++)
		*c = *c == '.' ? '_' : *c;
}

static void take_offer(const struct agent_options *o, struct fleet_offer *offer)
{
	struct sysinfo info;

	offer->cpus = o->cpus ? o->cpus : get_nprocs();
	offer->memory_bytes = o->memory_bytes;
	if (!offer->memory_bytes && sysinfo(&info) == 0)
		offer->memory_bytes = (uint64_t)info.totalram * info.mem_unit;
	offer->labels = o->labels.items;
	offer->label_count = o->labels.count;
}

static int run_agent(struct cli_context *ctx)
{
	CLEANUP(buf_release) struct buf name = BUF_INIT;
	const struct agent_options *o = ctx->options;
	struct fleet_dir home;
	struct fleet_client *client = NULL;
	struct fleet_agent_options how = { .is_stopped = &fleet_is_stopped, .is_drained = &fleet_is_drained };
	int rc = fleet_connect(ctx, o->dir, &home, &client);

	if (rc < 0)
		return rc;
	name_of(o, &home, &name);
	fleet_catch_signals();
	how.name = name.data;
	take_offer(o, &how.offer);
	rc = fleet_agent_run(client, &how, ctx->err);
	fleet_client_free(client);
	return rc;
}

static const struct cli_example agent_examples[] = {
	{ "sonde agent",
			"Run in the foreground until interrupted; 'sonde fleet add' starts agents in the "
			"background." },
	{ NULL, NULL },
};

const struct cli_command cmd_agent = {
	.name = "agent",
	.usage = "[--dir DIR] [--name NAME] [--cpus N] [--memory SIZE] [--label NAME]",
	.options = agent_rows,
	.options_size = sizeof(struct agent_options),
	.examples = agent_examples,
	.run = run_agent,
};

/* sonde monitor: manage the job state of a fleet. */

struct monitor_options {
	const char *dir;
	int64_t lease_ns;
};

static const struct cli_option monitor_rows[] = {
	{ 0, "dir", "DIR", CLI_PATH(struct monitor_options, dir), .default_words = FLEET_DIR_DEFAULT,
			.help = FLEET_DIR_HELP },
	{ 0, "lease", "TIME", CLI_DURATION(struct monitor_options, lease_ns), .default_text = "15s", .min = 1000000000,
			.max = 3600000000000,
			.help = "Lease time of a new queue: an agent that cannot renew for this long stops its job; "
				"after half of it again the job is reassigned." },
	CLI_OPTIONS_END,
};

static int run_monitor(struct cli_context *ctx)
{
	const struct monitor_options *o = ctx->options;
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

static const struct cli_example monitor_examples[] = {
	{ "sonde monitor", "Run in the foreground until interrupted; 'sonde fleet up' starts one in the background." },
	{ NULL, NULL },
};

const struct cli_command cmd_monitor = {
	.name = "monitor",
	.usage = "[--dir DIR] [--lease TIME]",
	.options = monitor_rows,
	.options_size = sizeof(struct monitor_options),
	.examples = monitor_examples,
	.run = run_monitor,
};
