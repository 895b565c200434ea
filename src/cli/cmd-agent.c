/*
 * sonde agent: run the jobs of a fleet on this machine.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/fleet-cli.h"
#include "fleet/agent.h"

#include <sys/sysinfo.h>
#include <unistd.h>

struct options {
	const char *dir, *name;
	int64_t cpus;
	uint64_t memory_bytes;
	struct cli_list labels;
};

static const struct cli_option option_rows[] = {
	{ 0, "dir", "DIR", CLI_PATH(struct options, dir), .default_words = FLEET_DIR_DEFAULT, .help = FLEET_DIR_HELP },
	{ 0, "name", "NAME", CLI_STRING(struct options, name), .default_words = "the host name and process ID",
			.help = "Name of this agent in the fleet." },
	{ 0, "cpus", "N", CLI_INT(struct options, cpus), .default_words = "all", .min = 1, .max = 1 << 20,
			.help = "CPUs that this agent offers to jobs." },
	{ 0, "memory", "SIZE", CLI_SIZE(struct options, memory_bytes), .default_words = "all",
			.help = "Memory that this agent offers to jobs." },
	{ 0, "label", "NAME", CLI_WORDS(struct options, labels),
			.help = "Capability label of this agent, such as gpu or fast-disk." },
	CLI_OPTIONS_END,
};

/* The name is one token of a NATS subject: no dots. */
static void name_of(const struct options *o, const struct fleet_dir *home, struct buf *out)
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

static void take_offer(const struct options *o, struct fleet_offer *offer)
{
	struct sysinfo info;

	offer->cpus = o->cpus ? o->cpus : get_nprocs();
	offer->memory_bytes = o->memory_bytes;
	if (!offer->memory_bytes && sysinfo(&info) == 0)
		offer->memory_bytes = (uint64_t)info.totalram * info.mem_unit;
	offer->labels = o->labels.items;
	offer->label_count = o->labels.count;
}

static int run(struct cli_context *ctx)
{
	CLEANUP(buf_release) struct buf name = BUF_INIT;
	const struct options *o = ctx->options;
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

static const struct cli_example examples[] = {
	{ "sonde agent",
			"Run in the foreground until interrupted; 'sonde fleet add' starts agents in the "
			"background." },
	{ NULL, NULL },
};

const struct cli_command cmd_agent = {
	.name = "agent",
	.usage = "[--dir DIR] [--name NAME] [--cpus N] [--memory SIZE] [--label NAME]",
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};
