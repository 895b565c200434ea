/*
 * sonde info: show the contents of a run, and what is missing from it.
 */
#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/info.h"
#include "cli/open-run.h"
#include "cli/stdout-buffer.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	bool is_json;
	bool is_all;
	bool is_check;
};

static const struct cli_option option_rows[] = {
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json), .help = "Print one JSON object." },
	{ 'a', "all", NULL, CLI_FLAG(struct options, is_all), .help = "Cut no list of processes, calls or files." },
	{ 0, "check", NULL, CLI_FLAG(struct options, is_check),
			.help = "Read everything first, so that all damage is known; exit 1 if there is any." },
	CLI_OPTIONS_END,
};

size_t info_shown(const struct info *info, size_t count, size_t usual)
{
	return info->is_all || count < usual ? count : usual;
}

static void keep_loss(void *arg, const char *sentence)
{
	struct info *info = arg;
	char **losses = reallocarray(info->losses, info->loss_count + 1, sizeof(*losses));

	if (!losses)
		return;
	info->losses = losses;
	losses[info->loss_count] = strdup(sentence);
	info->loss_count += losses[info->loss_count] != NULL;
}

static void release(struct info *info)
{
	for (size_t i = 0; i < info->loss_count; i++)
		free(info->losses[i]);
	free(info->losses);
	free(info->processes);
	model_totals_release(&info->totals);
}

/* Losses last: reading detects damage. */
static int learn(struct info *info, bool is_check, struct sonde_err *err)
{
	int rc = is_check ? model_run_check(info->run, err) : 0;

	if (rc == 0)
		rc = model_load(info->run, MODEL_ALL, err);
	if (rc == 0)
		rc = model_tree(info->run, &info->processes, &info->process_count, err);
	if (rc == 0)
		rc = model_totals_make(info->run, &info->totals, err);
	if (rc == 0)
		rc = model_losses(info->run, keep_loss, info, err);
	return rc;
}

static int show(struct cli_context *ctx, struct info *info, struct out *out)
{
	const struct options *o = ctx->options;
	struct term term = term_of(stdout);
	int rc = learn(info, o->is_check, ctx->err);

	if (rc < 0)
		return rc;
	rc = o->is_json ? info_write_json(info, &out->text) : info_write_text(info, &out->text, &term);
	if (rc < 0)
		return err_sys(ctx->err, ENOMEM, "cannot describe the run");
	if (o->is_check && model_run_is_damaged(info->run))
		ctx->exit_code = CLI_EXIT_FAILED;
	return out_finish(out, ctx->err);
}

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	CLEANUP(out_release) struct out out = OUT_INIT;
	struct info info = { .is_all = o->is_all };
	int rc = cli_open_run(ctx, &info.run);

	if (rc < 0)
		return rc;
	out_init(&out);
	rc = show(ctx, &info, &out);
	release(&info);
	model_run_free(info.run);
	return rc;
}

static const struct cli_example examples[] = {
	{ "sonde info", "What is in the latest run." },
	{ "sonde info --check sonde-runs/20260131-120000-train", "Whether a run is whole." },
	{ "sonde info --json | jq '.tables.io.rows'", "How many calls were recorded." },
	{ NULL, NULL },
};

static const struct cli_exit_code exit_codes[] = {
	{ "0", "The run could be read." },
	{ "1", "It could not be read; with --check, also when something in it is damaged." },
	{ "2", "The command line is wrong." },
	{ NULL, NULL },
};

const struct cli_command cmd_info = {
	.name = "info",
	.usage = "[--json] [--all] [--check] [RUN]",
	.positional = CLI_RUN_POSITIONAL,
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.exit_codes = exit_codes,
	.run = run,
};
