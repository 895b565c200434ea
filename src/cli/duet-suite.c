/*
 * duet-suite: sonde duet suite.yml..., its images, and the actions on result directories: process, overlaps,
 * report.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/shell-words.h"
#include "cli/duet-cli.h"
#include "duet/duet-replay.h"
#include "duet/history.h"
#include "duet/results.h"
#include "duet/run-commands.h"
#include "duet/sources.h"
#include "duet/suite.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { WARNINGS_MAX = 16 };

struct listener {
	const struct duet_options *options;
	size_t warnings;
};

static void show_event(void *arg, enum duet_event kind, const char *sentence)
{
	static const char *const words[] = { "", "warning: ", "error: " };
	struct listener *l = arg;

	l->warnings += kind == DUET_EVENT_WARNING;
	if (kind == DUET_EVENT_INFO && !l->options->is_verbose && !isatty(STDERR_FILENO))
		return;
	cli_message("sonde duet", "%s%s", words[kind], sentence);
}

/* Creates the results directory; an existing one needs -f or --resume. */
static int make_outdir(struct cli_context *ctx, char **dir)
{
	const struct duet_options *o = ctx->options;
	char text[64];
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(text, sizeof(text), "results.%Y%m%d-%H%M%S", &tm);
	*dir = arena_strdup(ctx->arena, o->outdir ? o->outdir : text);
	if (!*dir)
		return err_sys(ctx->err, ENOMEM, "cannot create the results directory");
	if (access(*dir, F_OK) == 0 && !o->is_forced && !o->is_resumed) {
		int rc = err_set(ctx->err, EEXIST, "'%s' already exists", *dir);

		err_hint(ctx->err, "use --resume to continue it, --force to overwrite it, or another --outdir");
		return rc;
	}
	return fs_mkdir_p(*dir, 0755, ctx->err);
}

static int run_suite(struct cli_context *ctx, const struct duet_suite *suite, const char *dir, struct listener *l,
		size_t *failed)
{
	const struct duet_options *o = ctx->options;
	uint64_t seed = o->seed >= 0 ? (uint64_t)o->seed : suite->has_seed ? suite->seed : (uint64_t)time(NULL);
	struct duet_suite_run r = { .suite = suite,
		.outdir = dir,
		.docker = o->docker,
		.interrupt_fd = duet_signals_open(ctx->err),
		.is_resumed = o->is_resumed,
		.has_output = o->is_verbose || suite->is_verbose || o->has_output,
		.on_event = show_event,
		.arg = l };
	struct duet_step *steps;
	size_t count;
	int rc = r.interrupt_fd < 0 ? r.interrupt_fd : duet_suite_artifacts(&r, ctx->err);

	if (!rc)
		rc = duet_suite_plan(suite, o->filter.items, seed, ctx->arena, &steps, &count, ctx->err);
	if (!rc && !count)
		rc = err_set(ctx->err, ENOENT, "nothing to run in '%s'", suite->path);
	if (!rc)
		rc = duet_suite_execute(&r, steps, count, ctx->err);
	*failed += r.failed;
	cli_message("sonde duet", "%s: %zu run%s done, %zu skipped, %zu failed, results in %s", suite->name, r.done,
			r.done == 1 ? "" : "s", r.left_out, r.failed, dir);
	if (rc == -EINTR)
		ctx->exit_code = 128 + duet_signals_caught();
	duet_signals_close();
	return rc;
}

/* An unreadable configuration is reported and skipped, as in the original; the exit code is set. */
int duet_run_suites(struct cli_context *ctx)
{
	struct listener l = { .options = ctx->options };
	size_t failed = 0, unread = 0;
	char *dir = NULL;
	int rc = 0;

	for (size_t i = 0; i < ctx->arg_count && !rc; i++) {
		struct sonde_err why = SONDE_ERR_INIT;
		struct duet_suite suite;

		if (duet_suite_load(&suite, ctx->args[i], ctx->arena, &why)) {
			cli_print_error("sonde", &why);
			unread++;
			continue;
		}
		if (duet_cpu_count() < 2)
			show_event(&l, DUET_EVENT_WARNING, "only one CPU is available: the sides of a duet share it");
		if (!dir)
			rc = make_outdir(ctx, &dir);
		if (!rc)
			rc = run_suite(ctx, &suite, dir, &l, &failed);
	}
	if (!rc && unread)
		rc = err_set(ctx->err, EINVAL, "%zu of %zu configuration files could not be read", unread,
				ctx->arg_count);
	else if (!rc && failed)
		rc = err_set(ctx->err, ECHILD, "%zu run%s failed", failed, failed == 1 ? "" : "s");
	return rc;
}

static void show_trouble(void *arg, const struct sonde_err *why)
{
	cli_print_error("sonde", why);
}

static bool is_directory(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static bool is_plain(const char *path)
{
	return !access(path, F_OK) && !is_directory(path) && !duet_results_is_table(path);
}

/* Reads result directories, tables written by process, or two result files. */
static int read_results(struct cli_context *ctx, struct duet_results *r)
{
	const struct duet_options *o = ctx->options;
	struct duet_suite suite;
	int rc = 0;

	if (ctx->arg_count < 2)
		return cli_usage(ctx, "missing argument DIR");
	r->on_trouble = show_trouble;
	r->pattern = o->regex;
	r->unit_ns = (double)o->unit_ns;
	if (o->config) {
		rc = duet_suite_load(&suite, o->config, ctx->arena, ctx->err);
		if (!rc && suite.benchmark_count)
			r->suite = suite.benchmarks[0].suite;
	}
	/* Two result files, old and new; two that `process` wrote are tables. */
	if (ctx->arg_count == 3 && is_plain(ctx->args[1]) && is_plain(ctx->args[2])) {
		for (int side = 0; side < DUET_SIDES && !rc; side++)
			rc = duet_results_read_file(r, ctx->args[1 + side], (enum duet_side)side, ctx->err);
		if (!rc)
			duet_results_match(r);
		return rc;
	}
	for (size_t i = 1; i < ctx->arg_count && !rc; i++)
		rc = is_directory(ctx->args[i]) ? duet_results_read(r, ctx->args[i], ctx->err)
						: duet_results_read_csv(r, ctx->args[i], ctx->err);
	if (!rc && !r->table.count)
		rc = err_set(ctx->err, ENODATA, "cannot read any of the %zu results", r->unread);
	return rc;
}

static int write_out(struct cli_context *ctx, const struct buf *text)
{
	const struct duet_options *o = ctx->options;

	if (buf_error(text))
		return err_sys(ctx->err, ENOMEM, "cannot write the results");
	if (o->outdir)
		return fs_write_output(o->outdir, text->data, text->len, ctx->err);
	fwrite(text->data, 1, text->len, stdout);
	return 0;
}

/* If some results could not be read, the rest is written and the exit code is set. */
static int finish(struct cli_context *ctx, const struct duet_results *r, int rc)
{
	if (!rc && r->unread)
		return err_set(ctx->err, EBADMSG, "%zu of %zu results could not be read", r->unread,
				r->unread + r->files);
	return rc;
}

int duet_run_process(struct cli_context *ctx)
{
	const struct duet_options *o = ctx->options;
	CLEANUP(duet_results_release) struct duet_results r = DUET_RESULTS_INIT;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc = read_results(ctx, &r);

	if (rc)
		return rc;
	if (o->json)
		duet_table_json(&r.table, &text);
	else
		duet_table_csv(&r.table, &text);
	return finish(ctx, &r, write_out(ctx, &text));
}

int duet_run_overlaps(struct cli_context *ctx)
{
	CLEANUP(duet_results_release) struct duet_results r = DUET_RESULTS_INIT;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	int rc = read_results(ctx, &r);

	if (!rc)
		rc = duet_results_overlaps(&r, 0, &text, ctx->err);
	return finish(ctx, &r, rc ? rc : write_out(ctx, &text));
}

/* Reports an earlier comparison from its journal. */
static int report_journal(struct cli_context *ctx, const char *dir)
{
	struct duet_replay r;
	int rc = duet_replay_open(&r, dir, ctx->err);

	if (!rc)
		rc = duet_print_verdict(ctx, &r.report);
	duet_replay_release(&r);
	return rc;
}

/* Warns about benchmarks without a pair of both sides; fails if no benchmark has one. */
static int check_entries(struct cli_context *ctx, struct duet_report *report, const char **warnings)
{
	size_t lacking = 0, first = 0;

	for (size_t i = report->count; i-- > 0;)
		if (!report->entries[i].result->pairs.count) {
			lacking++;
			first = i;
		}
	if (lacking && lacking == report->count)
		return err_set(ctx->err, ENODATA, "no run has a pair of iterations of A and B with a '%s'",
				duet_metric_name(&report->setup->pairing));
	if (lacking && report->warning_count < WARNINGS_MAX)
		warnings[report->warning_count++] = arena_printf(ctx->arena,
				"%zu of %zu benchmarks %s no pair of iterations of A and B: '%s'%s", lacking,
				report->count, lacking == 1 ? "has" : "have", report->entries[first].name,
				lacking == 1 ? "" : " and others");
	return 0;
}

int duet_run_report(struct cli_context *ctx)
{
	const struct duet_options *o = ctx->options;
	const char *warnings[WARNINGS_MAX];
	CLEANUP(duet_results_release) struct duet_results r = DUET_RESULTS_INIT;
	struct duet_setup setup;
	struct duet_report report = { .setup = &setup, .warnings = warnings, .interference = { NAN, NAN } };
	int rc;

	if (ctx->arg_count == 2 && duet_journal_is(ctx->args[1]))
		return report_journal(ctx, ctx->args[1]);
	rc = duet_setup_of(ctx, &setup);
	setup.is_auto = false;
	setup.budget_ns = 0;
	if (!rc)
		rc = read_results(ctx, &r);
	if (!rc)
		rc = duet_results_judge(&r, &setup, &report.entries, &report.count, ctx->arena, ctx->err);
	if (!rc)
		rc = duet_report_finish(&report, ctx->arena, ctx->err);
	if (!rc) {
		for (size_t i = 0; i < report.count; i++)
			report.seconds += report.entries[i].result->seconds;
		if (report.count)
			report.warning_count = duet_warnings(&setup, report.entries[0].result, NULL, 2, warnings,
					WARNINGS_MAX, ctx->arena);
		rc = check_entries(ctx, &report, warnings);
	}
	if (!rc)
		rc = duet_print_verdict(ctx, &report);
	if (!rc && o->history)
		rc = duet_history_add(o->history, NULL, o->label, &report, ctx->err);
	for (size_t i = 0; i < report.count; i++)
		duet_result_release(report.entries[i].result);
	return finish(ctx, &r, rc);
}

int duet_run_images(struct cli_context *ctx)
{
	const struct duet_options *o = ctx->options;
	const char *command = o->docker ? o->docker : "podman", *word = ctx->arg_count > 1 ? ctx->args[1] : "";
	size_t first = !strcmp(word, "build") ? 2 : !strcmp(word, "move") ? 3 : 0;
	char **engine;
	int rc;

	if (!first || ctx->arg_count <= first)
		return cli_usage(ctx, "images requires 'build DIR...' or 'move HOST IMAGE...'");
	rc = words_split(command, ctx->arena, &engine, ctx->err);
	if (!rc && !engine[0])
		rc = cli_usage(ctx, "--docker is empty");
	for (size_t i = 2; i < ctx->arg_count && first == 3 && !rc; i++)
		if (*ctx->args[i] == '-')
			rc = cli_usage(ctx, "invalid name '%s'", ctx->args[i]);
	for (size_t i = first; i < ctx->arg_count && !rc; i++) {
		rc = first == 2 ? duet_image_build(engine, ctx->args[i], ctx->arena, ctx->err)
				: duet_image_copy(engine, command, ctx->args[2], ctx->args[i], ctx->arena, ctx->err);
		if (!rc)
			printf("%s %s\n", first == 2 ? "built" : "moved", ctx->args[i]);
	}
	return rc;
}
