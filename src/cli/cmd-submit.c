/*
 * sonde submit: submit jobs to a fleet.
 */
#include "base/cleanup.h"
#include "cli/fleet-cli.h"
#include "fleet/submission.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct options {
	const char *dir, *name, *target_loss, *tune, *batch, *push, *label;
	int64_t window, cpus;
	uint64_t memory_bytes;
	struct cli_list env;
};

static const struct cli_option option_rows[] = {
	{ 0, "dir", "DIR", CLI_PATH(struct options, dir), .default_words = FLEET_DIR_DEFAULT, .help = FLEET_DIR_HELP },
	{ 'n', "name", "NAME", CLI_STRING(struct options, name), .default_words = "the program name",
			.help = "Prefix of the job ID." },
	{ 0, "env", "NAME=VALUE", CLI_STRINGS(struct options, env),
			.help = "Set an environment variable of the program (repeatable); others come from "
				"the agent." },
	{ 0, "target-loss", "LOSS", CLI_STRING(struct options, target_loss),
			.help = "Stop when the moving average of the reported losses reaches this value." },
	{ 0, "window", "N", CLI_INT(struct options, window), .default_text = "5", .min = 1, .max = FLEET_WINDOW_MAX,
			.help = "Number of losses that are averaged." },
	{ 0, "push", "DIR", CLI_PATH(struct options, push),
			.help = "Upload this directory to the agent, without version control files; the program runs "
				"in a temporary copy." },
	{ 0, "cpus", "N", CLI_INT(struct options, cpus), .min = 0, .max = 1 << 20, .help = "CPUs required." },
	{ 0, "memory", "SIZE", CLI_SIZE(struct options, memory_bytes), .help = "Memory required." },
	{ 0, "label", "NAME", CLI_STRING(struct options, label), .help = "Capability label required." },
	{ 0, "tune", "FILE", CLI_PATH(struct options, tune),
			.help = "Tune the job online with this job file of sonde train." },
	{ 0, "batch", "FILE", CLI_PATH(struct options, batch),
			.help = "Submit all jobs of a YAML list with the keys name, command, directory, environment, "
				"target_loss, window, tune, push, cpus, memory, label, times." },
	CLI_OPTIONS_END,
};

static int take_options(struct cli_context *ctx, struct submission *s)
{
	const struct options *o = ctx->options;
	char *end;

	s->name = o->name;
	s->argv = ctx->program;
	s->env = (const char *const *)o->env.items;
	s->window = o->window;
	s->plan = o->tune;
	s->push = o->push;
	s->cpus = o->cpus;
	s->memory_bytes = o->memory_bytes;
	s->label = o->label;
	if (!o->target_loss)
		return 0;
	s->target_loss = strtod(o->target_loss, &end);
	return end == o->target_loss || *end || !isfinite(s->target_loss)
			? cli_usage(ctx, "invalid number '%s' for --target-loss", o->target_loss)
			: 0;
}

static int gather(struct cli_context *ctx, struct submission **all, size_t *count)
{
	const struct options *o = ctx->options;
	struct submission *one = arena_alloc(ctx->arena, sizeof(*one));
	bool has_program = ctx->program && ctx->program[0];
	int rc;

	if (o->batch &&
			(has_program || o->tune || o->name || o->target_loss || o->env.count || o->push || o->cpus ||
					o->memory_bytes || o->label))
		return cli_usage(ctx, "--batch cannot be combined with a program or options of a job");
	if (o->batch)
		return submission_load(o->batch, all, count, ctx->arena, ctx->err);
	if (!has_program && !o->tune)
		return cli_usage(ctx, "missing program: sonde submit -- PROGRAM [ARGUMENT...]");
	if (!one)
		return err_sys(ctx->err, ENOMEM, "cannot submit");
	*one = (struct submission)SUBMISSION_INIT;
	*all = one;
	*count = 1;
	rc = take_options(ctx, one);
	return rc ? rc : submission_check(one, ctx->arena, ctx->err);
}

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	struct submission *all = NULL;
	struct fleet_client *client = NULL;
	struct fleet_dir home;
	size_t count = 0;
	int rc = gather(ctx, &all, &count);

	if (rc)
		return rc;
	rc = fleet_connect(ctx, o->dir, &home, &client);
	for (size_t i = 0; i < count && rc == 0; i++) {
		CLEANUP(buf_release) struct buf id = BUF_INIT;

		rc = submission_send(&all[i], client, &id, ctx->err);
		if (rc == 0)
			printf("%s\n", id.data);
	}
	fleet_client_free(client);
	return rc;
}

static const struct cli_example examples[] = {
	{ "sonde submit -- python3 train.py --epochs 10", "Submit a job and print its ID." },
	{ "sonde submit --target-loss 0.1 -- python3 train.py", "Stop the job when it reaches a loss." },
	{ "sonde submit --push . --cpus 8 -- python3 train.py", "Upload the code, and run on a host with eight CPUs." },
	{ "sonde submit --tune cnn.yml -- python3 cnn.py", "Tune the job online." },
	{ "sonde submit --batch jobs.yml", "Submit many jobs and print one ID per line." },
	{ NULL, NULL },
};

const struct cli_command cmd_submit = {
	.name = "submit",
	.usage = "[--name NAME] [--target-loss LOSS] [--push DIR] -- PROGRAM [ARGUMENT...] | --batch FILE",
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.flags = CLI_TAKES_PROGRAM,
	.run = run,
};
