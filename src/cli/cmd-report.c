/*
 * sonde report: write a run as a standalone HTML file.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/cli.h"
#include "cli/open-run.h"
#include "serve/report-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct options {
	const char *path;
	uint64_t events_bytes;
};

static const struct cli_option option_rows[] = {
	{ 'o', "output", "FILE", CLI_PATH(struct options, path), .default_text = "report.html",
			.help = "Output file; '-' is standard output." },
	{ 0, "events", "SIZE", CLI_SIZE(struct options, events_bytes), .default_text = "8M",
			.help = "Size limit of embedded events; more allow to zoom deeper." },
	CLI_OPTIONS_END,
};

static int write_out(const struct options *o, const struct buf *page, struct sonde_err *err)
{
	if (strcmp(o->path, "-") == 0)
		return fs_write_all(STDOUT_FILENO, page->data, page->len) < 0
				? err_sys(err, errno, "cannot write the report")
				: 0;
	if (fs_write_output(o->path, page->data, page->len, err) < 0)
		return -EIO;
	printf("%s\n", o->path);
	return 0;
}

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	CLEANUP(buf_release) struct buf page = BUF_INIT;
	struct run_api *run_api;
	int rc = run_api_open(&run_api, ctx->arg_count ? ctx->args[0] : NULL, ctx->err);

	if (rc < 0)
		return rc;
	rc = report_write(run_api, o->events_bytes, &page, ctx->err);
	run_api_free(run_api);
	return rc < 0 ? rc : write_out(o, &page, ctx->err);
}

static const struct cli_example examples[] = {
	{ "sonde report -o training.html", "Write the latest run as an HTML file." },
	{ "sonde report --events 64M big", "Write another run, with more of its events." },
	{ NULL, NULL },
};

const struct cli_command cmd_report = {
	.name = "report",
	.usage = "[-o FILE] [--events SIZE] [RUN]",
	.positional = CLI_BUNDLE_POSITIONAL,
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};
