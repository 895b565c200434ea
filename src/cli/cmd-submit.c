/*
 * sonde submit: submit jobs to a fleet.
 */
#include "base/cleanup.h"
#include "cli/submission.h"

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
	{ 0, "tune", "FILE", CLI_PATH(struct options, tune),
			.help = "Tune the job while it trains, as this job file of sonde train says." },
	{ 0, "batch", "FILE", CLI_PATH(struct options, batch),
			.help = "Submit every job of a YAML list: name, command, directory, environment, target_loss, "
				"window, tune, push, cpus, memory, label, times." },
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
			? cli_usage(ctx, "--target-loss '%s' is not a number", o->target_loss)
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
		return cli_usage(ctx, "--batch has all jobs in its file: it takes no program and no options of one");
	if (o->batch)
		return submission_load(o->batch, all, count, ctx->arena, ctx->err);
	if (!has_program && !o->tune)
		return cli_usage(ctx, "which program? sonde submit -- PROGRAM [ARGUMENT...]");
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
	{ "sonde submit -- python3 train.py --epochs 10", "Queue a job; its id is printed." },
	{ "sonde submit --target-loss 0.1 -- python3 train.py", "Stop it when it is good enough." },
	{ "sonde submit --push . --cpus 8 -- python3 train.py", "Bring the code along, to a host that is big enough." },
	{ "sonde submit --tune cnn.yml -- python3 cnn.py", "Tune it while it trains." },
	{ "sonde submit --batch jobs.yml", "Many jobs at once; an id a line." },
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
