/*
 * sonde tune: optimize a configuration.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/cli.h"
#include "cli/tune-cli.h"
#include "tune/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct options {
	int64_t seed;
	int64_t trials;
	int64_t confirm;
	const char *dir;
	const char *method;
	const char *launcher;
	bool is_json, is_csv, is_paired, is_dry, is_retry;
};

static const struct cli_option option_rows[] = {
	{ 0, "trials", "N", CLI_INT(struct options, trials), .min = 1, .max = TUNE_TRIALS_MAX,
			.help = "Maximum number of trials, instead of the budget of the study." },
	{ 0, "confirm", "N", CLI_INT(struct options, confirm), .min = -1, .max = TUNE_PAIRS_MAX, .default_text = "-1",
			.default_words = "from the study, or 10",
			.help = "Confirm the best against the default with N paired runs (0 = do not)." },
	{ 0, "seed", "N", CLI_INT(struct options, seed), .min = -1, .max = INT64_MAX, .default_text = "-1",
			.default_words = "from the study, or 0", .help = "Random seed." },
	{ 0, "method", "NAME", CLI_STRING(struct options, method), .default_words = "from the study, or gp",
			.help = "Optimizer: gp, tpe, selftf, sobol or random." },
	{ 0, "paired", NULL, CLI_FLAG(struct options, is_paired),
			.help = "Run each trial side by side with the best so far and use the ratio, which cancels "
				"interference. The two swap CPUs regularly." },
	{ 0, "launcher", "NAME", CLI_STRING(struct options, launcher), .default_words = "none (run trials here)",
			.help = "Run each trial by slurm, as a job or as a step of the allocation; arguments of srun "
				"may follow ('slurm -p fast -c 4')." },
	{ 'o', "output", "DIR", CLI_PATH(struct options, dir), .default_words = "./sonde-tune/NAME",
			.help = "Directory of the journal and reports; an existing study is resumed. serve writes a "
				"journal only with this option." },
	{ 0, "retry", NULL, CLI_FLAG(struct options, is_retry),
			.help = "Run failed trials again, after their cause was fixed." },
	{ 0, "report", NULL, CLI_FLAG(struct options, is_dry),
			.help = "Report from the journal without running trials." },
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json), .help = "Print the result as one JSON object." },
	{ 0, "csv", NULL, CLI_FLAG(struct options, is_csv), .help = "Print the trials as CSV." },
	CLI_OPTIONS_END,
};

/* Loads the study and applies the overrides of the command line. */
static int load(struct cli_context *ctx, const char *path, struct tune_study **out)
{
	const struct options *o = ctx->options;
	struct tune_study *study = arena_alloc(ctx->arena, sizeof(*study));
	int rc = study ? tune_study_load(study, path, ctx->arena, ctx->err)
		       : err_sys(ctx->err, ENOMEM, "cannot read the study");

	if (rc < 0)
		return rc;
	if (o->seed >= 0)
		study->seed = o->seed;
	if (o->trials)
		study->trials = o->trials;
	if (o->confirm >= 0)
		study->confirm = o->confirm;
	if (o->method) {
		study->method = tune_method_find(o->method);
		if (!study->method)
			return cli_usage(ctx, "unknown method '%s' (supported: gp, tpe, selftf, sobol, random)",
					o->method);
	}
	*out = study;
	return 0;
}

/* Loads the results of earlier studies (warm start). */
static int warm_up(struct cli_context *ctx, const struct tune_study *study, struct tune_options *how)
{
	struct tune_warm_start *earlier = arena_alloc(ctx->arena, (study->warm_count + 1) * sizeof(*earlier));
	int rc = earlier ? 0 : err_sys(ctx->err, ENOMEM, "cannot read earlier studies");

	for (size_t i = 0; i < study->warm_count && rc == 0; i++)
		rc = tune_warm_start_read(&earlier[i], study->warm[i], &study->space, study->objectives[0].is_maximized,
				ctx->arena, ctx->err);
	how->earlier = earlier;
	how->warm_start_count = study->warm_count;
	return rc;
}

static int serve(struct cli_context *ctx, const char *path)
{
	const struct options *options = ctx->options;
	struct tune_optimizer optimizer;
	struct tune_options how;
	struct tune_study *study;
	int rc = load(ctx, path, &study);

	if (rc < 0)
		return rc;
	tune_study_options(study, &how);
	rc = warm_up(ctx, study, &how);
	if (rc == 0)
		rc = tune_optimizer_init(&optimizer, &study->space, &how, ctx->err);
	if (rc < 0)
		return rc;
	rc = tune_serve(&optimizer, study, options->dir, ctx->err);
	tune_optimizer_release(&optimizer);
	return rc;
}

static int report(struct cli_context *ctx, const struct tune_drive *d, const struct tune_outcome *outcome,
		const char *dir)
{
	const struct options *o = ctx->options;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct tune_insight *insight = arena_alloc(ctx->arena, sizeof(*insight));
	struct tune_report r = { .study = d->study,
		.o = d->o,
		.outcome = outcome,
		.insight = insight,
		.is_paired = d->is_paired };
	int rc = insight ? tune_insight(d->o, insight, ctx->arena, ctx->err)
			 : err_sys(ctx->err, ENOMEM, "cannot report");

	if (rc == 0)
		rc = tune_write_reports(dir, &r, ctx->err);
	if (rc < 0)
		return rc;
	if (o->is_json)
		tune_report_json(&text, &r);
	else if (o->is_csv)
		tune_report_csv(&text, &r);
	else
		tune_print(&r);
	fputs(text.data, stdout);
	if (!o->is_json && !o->is_csv)
		printf("report: %s/report.html\n", dir);
	return 0;
}

static int drive(struct cli_context *ctx, struct tune_drive *d, const char *dir)
{
	const struct options *o = ctx->options;
	struct tune_shown shown = { .drive = d, .dir = dir };
	struct tune_outcome outcome;
	int rc;

	term_progress_init(&shown.progress);
	d->show = tune_show;
	d->arg = &shown;
	d->is_interrupted = &interrupt_came;
	interrupt_catch();
	rc = o->is_dry ? tune_conclude(d, &outcome, ctx->arena, ctx->err)
		       : tune_drive(d, &outcome, ctx->arena, ctx->err);
	term_progress_end(&shown.progress);
	if (rc == 0)
		rc = report(ctx, d, &outcome, dir);
	if (rc == 0 && (outcome.is_interrupted || (outcome.failed && !outcome.done)))
		ctx->exit_code = CLI_EXIT_FAILED;
	return rc;
}

/* Failed trials are treated as not run. */
static int retry(struct tune_journal *journal, struct tune_optimizer *o, struct sonde_err *err)
{
	int rc = 0;

	for (size_t t = 0; t < o->count && rc == 0; t++)
		if (o->trials[t].result.state == TUNE_FAILED) {
			rc = tune_journal_retry(journal, o->trials[t].id, err);
			if (rc == 0)
				rc = tune_retry(o, o->trials[t].id, err);
		}
	return rc;
}

static int run_in(struct cli_context *ctx, struct tune_study *study, struct tune_optimizer *o, const char *dir)
{
	const struct options *options = ctx->options;
	CLEANUP(tune_journal_release) struct tune_journal journal = TUNE_JOURNAL_INIT;
	struct tune_drive d = { .study = study,
		.o = o,
		.journal = &journal,
		.is_paired = options->is_paired,
		.dir = arena_printf(ctx->arena, "%s/runs", dir) };
	const char *path = arena_printf(ctx->arena, "%s/journal.jsonl", dir);
	char absolute[PATH_MAX];
	int rc = d.dir && path ? fs_mkdir_p(d.dir, 0700, ctx->err) : err_sys(ctx->err, ENOMEM, "cannot run the study");

	if (rc < 0)
		return rc;
	d.dir = realpath(d.dir, absolute); /* the program may run in another directory */
	if (!d.dir)
		return err_sys(ctx->err, errno, "cannot find '%s'", dir);
	journal.is_paired = options->is_paired;
	rc = tune_journal_open(&journal, path, study, o, ctx->err);
	if (rc == 0 && options->is_retry)
		rc = retry(&journal, o, ctx->err);
	if (rc == 0 && journal.is_resumed && !options->is_dry && !options->is_json && !options->is_csv)
		printf("%s: resuming after %zu trials\n", study->name, o->count);
	return rc < 0 ? rc : drive(ctx, &d, dir);
}

static int take_launcher(struct cli_context *ctx, struct tune_study *study)
{
	const struct options *o = ctx->options;
	struct tune_launcher *l = o->launcher ? arena_alloc(ctx->arena, sizeof(*l)) : NULL;

	if (!o->launcher)
		return 0;
	if (o->is_paired)
		return cli_usage(ctx,
				"--paired runs trials side by side on this machine and cannot be combined with "
				"--launcher");
	if (study->is_announced) {
		err_set(ctx->err, ENOTSUP,
				"--launcher does not support knobs, steps and metrics that a program reports");
		err_hint(ctx->err, "use arguments, environment variables or files, and a regex on the output");
		return -ENOTSUP;
	}
	study->launcher = l;
	return l ? tune_launcher_parse(l, o->launcher, ctx->arena, ctx->err)
		 : err_sys(ctx->err, ENOMEM, "cannot run the study");
}

static int check_paired(struct cli_context *ctx, const struct tune_study *study)
{
	const struct options *o = ctx->options;

	if (o->is_paired && study->objective_count > 1)
		return cli_usage(ctx, "--paired requires a study with one objective");
	if (o->is_paired && study->window)
		return cli_usage(ctx,
				"--paired cannot be combined with 'window', which measures a program that keeps "
				"running");
	if (o->is_json && o->is_csv)
		return cli_usage(ctx, "--json and --csv are mutually exclusive");
	for (size_t k = 0; k < study->objective_count; k++)
		if (study->objectives[k].metric.source == TUNE_TOLD) {
			err_set(ctx->err, EINVAL, "%s:%zu: missing 'from' for '%s'", study->path,
					study->objectives[k].metric.line, study->objectives[k].metric.name);
			err_hint(ctx->err,
					"add 'from': wall, cpu, memory, step, or a 'regex' or 'file'; or use 'sonde "
					"tune serve'");
			return -EINVAL;
		}
	return 0;
}

static int tune(struct cli_context *ctx, const char *path)
{
	const struct options *o = ctx->options;
	struct tune_optimizer optimizer;
	struct tune_options how;
	struct tune_study *study = NULL;
	const char *dir;
	int rc = load(ctx, path, &study);

	if (rc || !study)
		return rc;
	rc = check_paired(ctx, study);
	if (rc == 0)
		rc = take_launcher(ctx, study);
	if (rc == 0)
		rc = tune_expand_check(study, ctx->err);
	if (rc)
		return rc;
	dir = o->dir ? o->dir : arena_printf(ctx->arena, "sonde-tune/%s", study->name);
	tune_study_options(study, &how);
	rc = dir ? warm_up(ctx, study, &how) : err_sys(ctx->err, ENOMEM, "cannot run the study");
	if (rc == 0)
		rc = tune_optimizer_init(&optimizer, &study->space, &how, ctx->err);
	if (rc < 0)
		return rc;
	rc = run_in(ctx, study, &optimizer, dir);
	tune_optimizer_release(&optimizer);
	return rc;
}

static int run(struct cli_context *ctx)
{
	if (strcmp(ctx->args[0], "serve") != 0)
		return ctx->arg_count == 1 ? tune(ctx, ctx->args[0]) : cli_usage(ctx, "only one study can be given");
	if (ctx->arg_count != 2)
		return cli_usage(ctx, "missing study file: sonde tune serve STUDY.yml");
	return serve(ctx, ctx->args[1]);
}

static const struct cli_example examples[] = {
	{ "sonde tune sqlite.yml", "Run or resume the study, and confirm the best against the default." },
	{ "sonde tune --paired --trials 30 server.yml", "Tune on a shared machine." },
	{ "sonde tune serve space.yml", "Serve ask and tell requests as JSON lines; the caller measures." },
	{ "sonde tune --report --json sqlite.yml | jq .best.params", "Print the best configuration so far." },
	{ NULL, NULL },
};

static const struct cli_exit_code exit_codes[] = {
	{ "0", "The study is complete; the report has the verdict." },
	{ "1", "Failed or interrupted; run again to resume." },
	{ "2", "Usage error." },
	{ NULL, NULL },
};

const struct cli_command cmd_tune = {
	.name = "tune",
	.usage = "[--trials N] [--seed N] [--paired] [--json] [-o DIR] [serve] STUDY.yml",
	.positional = { .name = "STUDY",
			.min = 1,
			.max = 2,
			.type = CLI_TYPE_PATH,
			.help = "Study file; 'serve' before it serves ask and tell requests on stdin and stdout." },
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.exit_codes = exit_codes,
	.run = run,
};
