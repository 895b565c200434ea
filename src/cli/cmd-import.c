/*
 * sonde import: convert other tools' traces to a run.
 */
#include "base/cleanup.h"
#include "base/json.h"
#include "cli/cli.h"
#include "exchange/exchange.h"
#include "exchange/import.h"
#include "result/term.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

struct options {
	const char *dir;
	const char *name;
	int64_t threads;
	int format;
	int unit;
	bool is_json;
	bool is_quiet;
};

static const char *const unit_words[] = { "auto", "ns", "us", "ms", "s", NULL }; /* enum import_unit */

static const struct cli_option option_rows[] = {
	{ 'o', "output", "DIR", CLI_PATH(struct options, dir),
			.help = "Output directory; it must not exist or be empty.",
			.default_words = "a new directory in ./sonde-runs or $SONDE_RUNS" },
	{ 0, "name", "NAME", CLI_STRING(struct options, name), .help = "Name of the run.",
			.default_words = "the name of the first trace" },
	{ 0, "from", "FORMAT", CLI_CHOICE(struct options, format), .choices = exchange_reader_names,
			.default_text = "auto", .help = "Input format; auto detects it from the content." },
	{ 'j', "threads", "N", CLI_INT(struct options, threads), .min = 0, .max = IMPORT_THREADS_MAX,
			.default_text = "0", .help = "Number of threads; 0 is one per CPU." },
	{ 0, "time-unit", "UNIT", CLI_CHOICE(struct options, unit), .choices = unit_words, .default_text = "auto",
			.help = "Unit of timestamps in the traces; auto treats values above 10^17 as nanoseconds, "
				"others as microseconds." },
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json),
			.help = "Print statistics of the import as one JSON object." },
	{ 'q', "quiet", NULL, CLI_FLAG(struct options, is_quiet), .help = "Print nothing on success." },
	CLI_OPTIONS_END,
};

static void show_progress(void *arg, uint64_t done, uint64_t all)
{
	char part[TERM_TEXT], whole[TERM_TEXT];

	term_progress_show(arg, "%s of %s", term_bytes(part, done), term_bytes(whole, all));
}

/* Prints what is missing from the run, and why. */
static void report_losses(const struct import_result *r)
{
	const struct {
		uint64_t count;
		const char *one, *many;
	} losses[] = {
		{ r->bad_files, "file is truncated, damaged, empty or unreadable; its readable part was imported",
				"files are truncated, damaged, empty or unreadable; their readable parts were "
				"imported" },
		{ r->counts.invalid, "line is not a valid record and was skipped",
				"lines are not valid records and were skipped" },
		{ r->counts.too_long, "line is longer than 16 MiB and was skipped",
				"lines are longer than 16 MiB and were skipped" },
		{ r->counts.odd_durations, "event has an invalid duration, which is kept as an argument if possible",
				"events have invalid durations, which are kept as arguments if possible" },
		{ r->conflicts, "hash has more than one name; the first is used",
				"hashes have more than one name; the first is used" },
		{ r->refused, "name did not fit in memory; rows that refer to it have none",
				"names, files or processes did not fit in memory; rows that refer to them have none" },
		{ r->lost_rows, "row could not be written", "rows could not be written" },
	};

	for (size_t i = 0; i < r->problem_count; i++) {
		const struct import_problem *p = &r->problems[i];

		if (p->line)
			cli_message(NULL, "%s:%" PRIu64 ": %s", p->path, p->line, p->text);
		else
			cli_message(NULL, "%s: %s", p->path, p->text);
	}
	for (size_t i = 0; i < sizeof(losses) / sizeof(*losses); i++)
		if (losses[i].count)
			cli_message(NULL, "%" PRIu64 " %s", losses[i].count,
					losses[i].count == 1 ? losses[i].one : losses[i].many);
}

static void add_summary(struct buf *out, const struct import_result *r)
{
	char events[TERM_TEXT], input[TERM_TEXT], text[TERM_TEXT], run[TERM_TEXT];

	buf_addf(out, "%s: %s events of %" PRIu64 " process%s from %" PRIu64 " file%s (%s, %s of text) in %s\n",
			r->path, term_count(events, r->counts.events), r->processes, r->processes == 1 ? "" : "es",
			r->files, r->files == 1 ? "" : "s", term_bytes(input, r->input_bytes),
			term_bytes(text, r->text_bytes), term_bytes(run, r->run_bytes));
}

static void write_counts(struct json *j, const struct import_result *r)
{
#define COUNT(name, what) json_kuint(j, #name, r->counts.name);
	PFW_COUNTS(COUNT)
#undef COUNT
	json_kuint(j, "files", r->files);
	json_kuint(j, "bad_files", r->bad_files);
	json_kuint(j, "input_bytes", r->input_bytes);
	json_kuint(j, "text_bytes", r->text_bytes);
	json_kuint(j, "run_bytes", r->run_bytes);
	json_kuint(j, "processes", r->processes);
	json_kuint(j, "threads", r->threads);
	json_kuint(j, "named_files", r->named_files);
	json_kuint(j, "conflicts", r->conflicts);
	json_kuint(j, "refused", r->refused);
	json_kuint(j, "lost_rows", r->lost_rows);
	if (r->first_ns != STORE_NULL) {
		json_kint(j, "first_ns", r->first_ns);
		json_kint(j, "last_ns", r->last_ns);
	}
}

static void add_json(struct buf *out, const struct import_result *r)
{
	struct json j;

	json_init(&j, out, false);
	json_object(&j);
	json_kstr(&j, "run", r->path);
	write_counts(&j, r);
	json_key(&j, "problems");
	json_array(&j);
	for (size_t i = 0; i < r->problem_count; i++) {
		json_object(&j);
		json_kstr(&j, "file", r->problems[i].path);
		if (r->problems[i].line)
			json_kuint(&j, "line", r->problems[i].line);
		json_kstr(&j, "text", r->problems[i].text);
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
	buf_addc(out, '\n');
}

static void report(const struct options *o, const struct import_result *r)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (o->is_json)
		add_json(&text, r);
	else if (!o->is_quiet)
		add_summary(&text, r);
	fputs(text.data, stdout);
	fflush(stdout);
	if (!o->is_json)
		report_losses(r);
}

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	struct term_progress progress;
	struct import_result result;
	struct import_options options = {
		.paths = (const char *const *)ctx->args,
		.path_count = ctx->arg_count,
		.dir = o->dir,
		.name = o->name,
		.threads = (unsigned)o->threads,
		.unit = (enum import_unit)o->unit,
		.progress = show_progress,
		.arg = &progress,
	};
	int rc;

	term_progress_init(&progress);
	rc = import_run(exchange_readers[o->format], &options, &result, ctx->err);
	term_progress_end(&progress);
	if (rc == 0) {
		report(o, &result);
		if (result.trouble.text[0]) {
			*ctx->err = result.trouble;
			rc = -EIO;
		}
	}
	import_result_release(&result);
	return rc;
}

static const struct cli_example examples[] = {
	{ "sonde import traces/ -o job", "Import all traces below a directory as the run 'job'." },
	{ "sonde import *.pfw.gz", "Import these traces as a new run in ./sonde-runs." },
	{ "strace -f -ttt -T -o ls.txt ls; sonde import ls.txt", "Import the output of strace." },
	{ NULL, NULL },
};

const struct cli_command cmd_import = {
	.name = "import",
	.usage = "[--from FORMAT] [-o DIR] [--json] FILE|DIR...",
	.positional = { .name = "FILE|DIR",
			.min = 1,
			.max = SIZE_MAX,
			.type = CLI_TYPE_PATH,
			.help = "Trace files, and directories that contain DFTracer traces (.pfw, .pfw.gz)." },
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.run = run,
};
