/*
 * sonde tune: find a configuration that is really better.
 */
#include "base/cleanup.h"
#include "cli/cli.h"
#include "tune/protocol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	int64_t seed;
	int64_t trials;
	bool is_json;
};

static const struct cli_option option_rows[] = {
	{ 0, "trials", "N", CLI_INT(struct options, trials), .min = 1, .max = TUNE_TRIALS_MAX,
			.help = "At most N trials, instead of the study's budget." },
	{ 0, "seed", "N", CLI_INT(struct options, seed), .min = -1, .max = INT64_MAX, .default_text = "-1",
			.default_words = "the study's", .help = "Seed of everything random." },
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json), .help = "Print the result as one JSON object." },
	CLI_OPTIONS_END,
};

/* Lines from stdin, answers to stdout, until the end. */
static int converse(struct tune_optimizer *o, const struct tune_study *study, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	CLEANUP(cleanup_free) char *line = NULL;
	size_t cap = 0;
	ssize_t size;
	int rc = 0;

	while (rc == 0 && (size = getline(&line, &cap, stdin)) >= 0) {
		if (size > TUNE_LINE_MAX)
			return err_set(err, EFBIG, "a request is longer than %d bytes", TUNE_LINE_MAX);
		rc = tune_answer(o, study, line, (size_t)size, &out, err);
		fwrite(out.data, 1, out.len, stdout);
		fflush(stdout);
		buf_reset(&out);
		if (ferror(stdout))
			break;
	}
	return rc;
}

static int serve(struct cli_context *ctx, const char *path)
{
	const struct options *o = ctx->options;
	struct tune_optimizer optimizer;
	struct tune_options how;
	struct tune_study *study = arena_alloc(ctx->arena, sizeof(*study));
	int rc;

	if (!study)
		return err_sys(ctx->err, ENOMEM, "cannot read the study");
	rc = tune_study_load(study, path, ctx->arena, ctx->err);
	if (rc < 0)
		return rc;
	if (o->seed >= 0)
		study->seed = o->seed;
	tune_study_options(study, &how);
	rc = tune_optimizer_init(&optimizer, &study->space, &how, ctx->err);
	if (rc == 0)
		rc = converse(&optimizer, study, ctx->err);
	tune_optimizer_release(&optimizer);
	return rc;
}

static int run(struct cli_context *ctx)
{
	if (ctx->arg_count == 2 && strcmp(ctx->args[0], "serve") == 0)
		return serve(ctx, ctx->args[1]);
	return cli_usage(ctx, "give a study: sonde tune STUDY.yml, or sonde tune serve STUDY.yml");
}

const struct cli_command cmd_tune = {
	.name = "tune",
	.usage = "[--trials N] [--seed N] [--json] [serve] STUDY.yml",
	.positional = { .name = "STUDY", .min = 1, .max = 2, .type = CLI_TYPE_PATH, .help = "The study file." },
	.options = option_rows,
	.options_size = sizeof(struct options),
	.run = run,
};
