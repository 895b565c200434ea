/*
 * sonde clean: remove caches from a run.
 */
#include <jansson.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/open-run.h"
#include "model/lanes.h"

#include <stdio.h>

struct options {
	bool is_json;
};

static const struct cli_option option_rows[] = {
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json), .help = "Print one JSON object." },
	CLI_OPTIONS_END,
};

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct model_run *opened;
	struct json j;
	uint64_t bytes;
	int rc = cli_open_run(ctx, &opened);

	if (rc < 0)
		return rc;
	rc = model_lanes_remove(opened, &bytes, ctx->err);
	model_run_free(opened);
	if (rc < 0)
		return rc;
	if (o->is_json) {
		json_init(&j, &text, false);
		json_object(&j);
		json_kuint(&j, "bytes", bytes);
		json_end(&j);
		buf_addc(&text, '\n');
	} else {
		buf_addf(&text, "removed %llu bytes\n", (unsigned long long)bytes);
	}
	fputs(text.data, stdout);
	return 0;
}

static const struct cli_example examples[] = {
	{ "sonde clean", "Remove the zoom index of the latest run; the next view rebuilds it." },
	{ NULL, NULL },
};

const struct cli_command cmd_clean = {
	.name = "clean",
	.usage = "[--json] [RUN]",
	.positional = CLI_RUN_POSITIONAL,
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};
