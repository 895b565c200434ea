/*
 * sonde preprocess, sonde clean: build and remove the zoom index of a run.
 */
#include <jansson.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/json.h"
#include "cli/cli.h"
#include "cli/open-run.h"
#include "model/lanes.h"
#include "result/term.h"

#include <stdio.h>

struct options {
	bool is_force;
	bool is_json;
};

static const struct cli_option option_rows[] = {
	{ 'f', "force", NULL, CLI_FLAG(struct options, is_force), .help = "Rebuild even if it exists." },
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json), .help = "Print one JSON object." },
	CLI_OPTIONS_END,
};

static void say(const struct options *o, const struct pyramid *p)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct json j;
	uint64_t events = 0;
	size_t lanes;
	const struct pyramid_lane *at = pyramid_lanes(p, &lanes);

	for (size_t i = 0; i < lanes; i++)
		events += at[i].root.count;
	if (o->is_json) {
		json_init(&j, &text, false);
		json_object(&j);
		json_kuint(&j, "events", events);
		json_kuint(&j, "lanes", lanes);
		json_kuint(&j, "bytes", pyramid_bytes(p));
		json_end(&j);
		buf_addc(&text, '\n');
	} else {
		buf_addf(&text, "pyramid: %llu events in %zu lanes, %llu bytes\n", (unsigned long long)events, lanes,
				(unsigned long long)pyramid_bytes(p));
	}
	fputs(text.data, stdout);
}

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	struct model_lanes_opts opts = { .is_anew = o->is_force };
	struct model_run *opened;
	struct pyramid *p;
	int rc = cli_open_run(ctx, &opened);

	if (rc < 0)
		return rc;
	rc = model_lanes_open(&p, opened, &opts, ctx->err);
	if (rc == 0) {
		say(o, p);
		pyramid_free(p);
	}
	model_run_free(opened);
	return rc;
}

static const struct cli_example examples[] = {
	{ "sonde preprocess && sonde view", "Build the index before the first view of a large run." },
	{ NULL, NULL },
};

const struct cli_command cmd_preprocess = {
	.name = "preprocess",
	.usage = "[--force] [--json] [RUN]",
	.positional = CLI_RUN_POSITIONAL,
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};

/* sonde clean: remove caches from a run. */

struct clean_options {
	bool is_json;
};

static const struct cli_option clean_rows[] = {
	{ 0, "json", NULL, CLI_FLAG(struct clean_options, is_json), .help = "Print one JSON object." },
	CLI_OPTIONS_END,
};

static int run_clean(struct cli_context *ctx)
{
	const struct clean_options *o = ctx->options;
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

static const struct cli_example clean_examples[] = {
	{ "sonde clean", "Remove the zoom index of the latest run; the next view rebuilds it." },
	{ NULL, NULL },
};

const struct cli_command cmd_clean = {
	.name = "clean",
	.usage = "[--json] [RUN]",
	.positional = CLI_RUN_POSITIONAL,
	.options = clean_rows,
	.options_size = sizeof(struct clean_options),
	.examples = clean_examples,
	.run = run_clean,
};
