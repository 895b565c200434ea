/*
 * sonde submit: give a job to a fleet.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "cli/fleet-cli.h"
#include "fleet/push.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

struct options {
	const char *dir, *name, *target_loss, *push, *label;
	int64_t window, cpus;
	uint64_t memory_bytes;
	struct cli_list env;
};

static const struct cli_option option_rows[] = {
	{ 0, "dir", "DIR", CLI_PATH(struct options, dir), .default_words = FLEET_DIR_DEFAULT, .help = FLEET_DIR_HELP },
	{ 'n', "name", "NAME", CLI_STRING(struct options, name), .default_words = "the program's",
			.help = "What the job's id starts with." },
	{ 0, "env", "NAME=VALUE", CLI_STRINGS(struct options, env),
			.help = "Set this variable for the program; else it has its agent's." },
	{ 0, "target-loss", "LOSS", CLI_STRING(struct options, target_loss),
			.help = "Stop when the moving average of the losses that the program reports is down to "
				"this." },
	{ 0, "window", "N", CLI_INT(struct options, window), .default_text = "5", .min = 1, .max = FLEET_WINDOW_MAX,
			.help = "How many losses that average takes." },
	{ 0, "push", "DIR", CLI_PATH(struct options, push),
			.help = "Copy this directory to the agent, without version control's files: the program "
				"runs in a fresh copy, which goes when it has ended." },
	{ 0, "cpus", "N", CLI_INT(struct options, cpus), .min = 0, .max = 1 << 20,
			.help = "It needs an agent with at least so many CPUs." },
	{ 0, "memory", "SIZE", CLI_SIZE(struct options, memory_bytes),
			.help = "It needs an agent with at least so much memory." },
	{ 0, "label", "NAME", CLI_STRING(struct options, label), .help = "It needs an agent with this label." },
	CLI_OPTIONS_END,
};

/* "<name>_<mmdd_HHMMSS>_<random>": one word of a subject. */
static int make_id(struct buf *id, const char *name, struct sonde_err *err)
{
	time_t now = time(NULL);
	unsigned short random;
	struct tm tm;
	char when[32];

	if (getrandom(&random, sizeof(random), 0) != sizeof(random) || !localtime_r(&now, &tm))
		return err_sys(err, errno, "cannot make an id");
	strftime(when, sizeof(when), "%m%d_%H%M%S", &tm);
	fs_safe_name(id, name, 32);
	for (char *c = id->data; *c; c++)
		*c = *c == '.' ? '_' : *c;
	buf_addf(id, "_%s_%04x", when, random);
	return 0;
}

static int add_target(struct cli_context *ctx, struct json *j)
{
	const struct options *o = ctx->options;
	char *end;
	double target;

	if (!o->target_loss)
		return 0;
	target = strtod(o->target_loss, &end);
	if (end == o->target_loss || *end || !isfinite(target))
		return cli_usage(ctx, "--target-loss '%s' is not a number", o->target_loss);
	json_kreal(j, "target_loss", target);
	json_kint(j, "window", o->window);
	return 0;
}

static void add_needs(const struct options *o, const struct fleet_files *files, struct json *j)
{
	json_key(j, "needs");
	json_object(j);
	json_kint(j, "cpus", o->cpus);
	json_kuint(j, "memory_bytes", o->memory_bytes);
	if (o->label)
		json_kstr(j, "label", o->label);
	json_end(j);
	if (!files->hash[0])
		return;
	json_key(j, "files");
	json_object(j);
	json_kstr(j, "hash", files->hash);
	json_kuint(j, "chunks", files->chunks);
	json_end(j);
}

static int describe(struct cli_context *ctx, const char *name, const char *cwd, const struct fleet_files *files,
		struct buf *out)
{
	const struct options *o = ctx->options;
	struct json j;
	size_t count = 0;
	int rc;

	json_init(&j, out, false);
	json_object(&j);
	json_kstr(&j, "event", "submit");
	json_kstr(&j, "name", name);
	json_kstr(&j, "cwd", cwd);
	json_kint(&j, "time_ns", clock_real_ns());
	rc = add_target(ctx, &j);
	add_needs(o, files, &j);
	json_key(&j, "argv");
	json_array(&j);
	for (char **word = ctx->program; *word; word++, count++)
		json_str(&j, *word);
	json_end(&j);
	json_key(&j, "env");
	json_array(&j);
	for (size_t i = 0; i < o->env.count && rc == 0; i++) {
		if (!strchr(o->env.items[i], '=') || o->env.items[i][0] == '=')
			rc = cli_usage(ctx, "--env '%s' is not NAME=VALUE", o->env.items[i]);
		json_str(&j, o->env.items[i]);
	}
	json_end(&j);
	json_end(&j);
	if (rc == 0 && (count > FLEET_ARGS_MAX || o->env.count > FLEET_ARGS_MAX || out->len > 512 << 10))
		rc = err_set(ctx->err, E2BIG, "the job has more than %d words, or more than 512 KiB of them",
				FLEET_ARGS_MAX);
	return rc < 0 ? rc : buf_error(out);
}

static int run(struct cli_context *ctx)
{
	CLEANUP(buf_release) struct buf id = BUF_INIT, text = BUF_INIT;
	CLEANUP(cleanup_free) char *cwd = getcwd(NULL, 0);
	const struct options *o = ctx->options;
	const char *slash = strrchr(ctx->program[0], '/');
	const char *name = o->name ? o->name : slash ? slash + 1 : ctx->program[0];
	struct fleet_files files = { 0 };
	struct fleet_link *link = NULL;
	struct fleet_home home;
	int rc;

	if (!cwd)
		return err_sys(ctx->err, errno, "cannot tell the working directory");
	rc = make_id(&id, name, ctx->err);
	if (rc == 0)
		rc = fleet_connect(ctx, o->dir, &home, &link);
	if (rc == 0 && o->push)
		rc = fleet_push(link, o->push, &files, ctx->err);
	if (rc == 0)
		rc = describe(ctx, name, cwd, &files, &text);
	if (rc == 0)
		rc = fleet_link_tell(link, id.data, "event", text.data, id.data, NULL, ctx->err);
	fleet_link_free(link);
	if (rc == 0)
		printf("%s\n", id.data);
	return rc;
}

static const struct cli_example examples[] = {
	{ "sonde submit -- python3 train.py --epochs 10", "Queue a job; its id is printed." },
	{ "sonde submit --target-loss 0.1 -- python3 train.py", "Stop it when it is good enough." },
	{ "sonde submit --push . --cpus 8 -- python3 train.py", "Bring the code along, to a host that is big enough." },
	{ NULL, NULL },
};

const struct cli_command cmd_submit = {
	.name = "submit",
	.usage = "[--name NAME] [--target-loss LOSS] [--env NAME=VALUE] [--push DIR] -- PROGRAM [ARGUMENT...]",
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.flags = CLI_TAKES_PROGRAM | CLI_NEEDS_PROGRAM,
	.run = run,
};
