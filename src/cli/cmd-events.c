/*
 * sonde events: print the rows of a table of a run, sorted by time.
 */
#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/events.h"
#include "cli/open-run.h"
#include "cli/stdout-buffer.h"

#include <errno.h>

struct options {
	int table;
	bool is_json;
	int64_t limit;
	int64_t tail;
	struct event_wants wants;
};

static const struct cli_option option_rows[] = {
	{ 't', "table", "TABLE", CLI_CHOICE(struct options, table), .choices = event_table_names, .default_text = "io",
			.help = "Table to print." },
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json), .help = "Print JSON lines, one object per row." },
	{ 'n', "limit", "N", CLI_INT(struct options, limit), .min = 1, .max = INT64_MAX,
			.help = "Print the first N rows." },
	{ 0, "tail", "N", CLI_INT(struct options, tail), .min = 1, .max = INT64_MAX, .help = "Print the last N rows." },
	{ 0, "pid", "PID", CLI_INT(struct options, wants.pid), .min = 1, .max = INT32_MAX, .group = "Filters",
			.help = "Only rows of this process." },
	{ 0, "tid", "TID", CLI_INT(struct options, wants.tid), .min = 1, .max = INT32_MAX, .group = "Filters",
			.help = "Only rows of this thread." },
	{ 0, "call", "NAMES", CLI_WORDS(struct options, wants.calls), .group = "Filters",
			.help = "Only these calls: comma-separated names or shell patterns." },
	{ 0, "path", "PATH", CLI_STRING(struct options, wants.path), .group = "Filters",
			.help = "Only calls on this file or below this directory; a path with *, ? or [ is a pattern, "
				"in which * also matches slashes." },
	{ 0, "name", "NAME", CLI_STRING(struct options, wants.name), .group = "Filters",
			.help = "Only spans, steps, marks, counters, metadata or threads with a name that matches this "
				"pattern." },
	{ 0, "errors", NULL, CLI_FLAG(struct options, wants.is_failed_only), .group = "Filters",
			.help = "Only failed calls." },
	{ 0, "min-duration", "TIME", CLI_DURATION(struct options, wants.min_dur_ns), .group = "Filters",
			.help = "Only rows with at least this duration." },
	{ 0, "from", "TIME", CLI_DURATION(struct options, wants.from_ns), .group = "Filters",
			.help = "Only rows that start at this time since the start of the run, or later." },
	{ 0, "to", "TIME", CLI_DURATION(struct options, wants.to_ns), .group = "Filters",
			.help = "Only rows that start before this time since the start of the run." },
	CLI_OPTIONS_END,
};

typedef void write_fn(struct event_writer *w, const int64_t *row);

/* Skips the first rows, then prints up to limit (0: all). */
static int print(struct event_writer *w, struct model_rows *rows, write_fn *write, uint64_t skip, uint64_t limit,
		struct out *out, struct sonde_err *err)
{
	const void *row;
	int rc = 0;

	for (uint64_t n = 0; !out_is_over(out) && (!limit || n < skip + limit); n++) {
		rc = model_rows_next(rows, &row, err);
		if (rc < 0 || !row)
			break;
		if (n >= skip)
			write(w, row);
	}
	return rc;
}

static int skipped_for_tail(struct store_table *t, const struct model_rows_opts *opts, int64_t tail, uint64_t *skip,
		struct sonde_err *err)
{
	uint64_t count = 0;
	int rc = tail ? model_rows_count(t, opts, &count, err) : 0;

	*skip = tail && count > (uint64_t)tail ? count - (uint64_t)tail : 0;
	return rc;
}

static int print_table(struct cli_context *ctx, struct event_writer *w, struct event_filter *filter, struct out *out)
{
	const struct options *o = ctx->options;
	struct store_table *t = model_table(w->run, w->table->id);
	struct model_rows_opts opts = { .has_range = false };
	struct model_rows *rows;
	uint64_t skip;
	int rc;

	event_filter_apply(filter, &opts);
	rc = skipped_for_tail(t, &opts, o->tail, &skip, ctx->err);
	if (rc == 0)
		rc = model_rows_open(&rows, t, &opts, ctx->err);
	if (rc < 0)
		return rc;
	if (!o->is_json)
		event_write_titles(w);
	rc = print(w, rows, o->is_json ? event_write_json : event_write_text, skip, (uint64_t)o->limit, out, ctx->err);
	model_rows_free(rows);
	return rc;
}

static int print_run(struct cli_context *ctx, struct model_run *run, struct out *out)
{
	const struct options *o = ctx->options;
	struct event_writer w;
	struct event_filter filter;
	int rc = model_load(run, MODEL_CALLS | MODEL_FILES, ctx->err);

	if (rc == 0)
		rc = event_filter_init(&filter, ctx, run, &event_tables[o->table], &o->wants);
	if (rc < 0)
		return rc;
	event_writer_init(&w, run, &event_tables[o->table], &out->text);
	rc = print_table(ctx, &w, &filter, out);
	event_filter_release(&filter);
	if (rc == 0 && event_writer_error(&w) < 0)
		rc = err_sys(ctx->err, ENOMEM, "cannot write the events");
	event_writer_release(&w);
	return rc;
}

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	CLEANUP(out_release) struct out out = OUT_INIT;
	struct model_run *opened;
	int rc;

	if (o->limit && o->tail)
		return cli_usage(ctx, "--limit and --tail are mutually exclusive");
	rc = cli_open_run(ctx, &opened);
	if (rc < 0)
		return rc;
	out_init(&out);
	rc = print_run(ctx, opened, &out);
	model_run_free(opened);
	return rc < 0 ? rc : out_finish(&out, ctx->err);
}

static const struct cli_example examples[] = {
	{ "sonde events --errors", "Failed calls of the latest run." },
	{ "sonde events --path ./data --min-duration 1ms", "Slow calls on files below ./data." },
	{ "sonde events --table span --name 'epoch*' --json | jq .dur_ns", "The duration of each epoch." },
	{ NULL, NULL },
};

const struct cli_command cmd_events = {
	.name = "events",
	.usage = "[--table TABLE] [--json] [FILTER...] [RUN]",
	.positional = CLI_RUN_POSITIONAL,
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};
