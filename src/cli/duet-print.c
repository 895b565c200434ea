/*
 * duet-print: prints a report to stdout and files, and sets the exit code.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/duet-cli.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static int exit_code_of(const struct duet_options *o, const struct duet_report *report)
{
	bool is_slower = false, is_open = false;

	for (size_t i = 0; i < report->count; i++) {
		is_slower |= report->entries[i].result->verdict == STATS_SLOWER;
		is_open |= report->entries[i].result->verdict == STATS_INCONCLUSIVE;
	}
	if (duet_signals_caught())
		return 128 + duet_signals_caught();
	if (is_slower)
		return CLI_EXIT_VERDICT;
	return is_open && cli_list_has(&o->fail_on, "inconclusive") ? DUET_EXIT_INCONCLUSIVE : CLI_EXIT_FINE;
}

static void write_json(struct buf *text, const struct duet_options *o, const struct duet_report *report)
{
	struct json j;

	json_init(&j, text, false);
	duet_report_json(&j, report, o->has_samples);
	buf_addc(text, '\n');
}

int duet_print(struct cli_context *ctx, const struct duet_report *report)
{
	const struct duet_options *o = ctx->options;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	CLEANUP(buf_release) struct buf page = BUF_INIT;
	struct term term = term_of(stdout);

	if (o->is_json)
		write_json(&text, o, report);
	else if (o->is_csv)
		duet_report_csv(&text, report);
	else if (o->is_markdown)
		duet_report_markdown(&text, report);
	else
		duet_write_text(&text, &term, report);
	if (buf_error(&text))
		return err_sys(ctx->err, ENOMEM, "cannot write the result");
	if (fwrite(text.data, 1, text.len, stdout) != text.len || fflush(stdout))
		return err_sys(ctx->err, errno, "cannot write to standard output");
	if (!o->html)
		return 0;
	duet_report_html(&page, report, false);
	if (buf_error(&page))
		return err_sys(ctx->err, ENOMEM, "cannot write the page");
	return fs_write_output(o->html, page.data, page.len, ctx->err);
}

int duet_print_verdict(struct cli_context *ctx, const struct duet_report *report)
{
	int rc = duet_print(ctx, report);

	if (!rc || duet_signals_caught())
		ctx->exit_code = exit_code_of(ctx->options, report);
	return rc;
}
