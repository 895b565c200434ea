/*
 * sonde train: tune a training job online.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/cli.h"
#include "cli/tune-cli.h"
#include "result/term.h"
#include "tune/online-controller.h"
#include "tune/online-run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DEAF_REPORTS = 50 }; /* with the old settings after a change request: the program ignores its knobs */

struct options {
	const char *dir, *plan_text, *target_loss;
	int64_t seed;
	bool is_json, is_fixed;
	struct cli_list set;
};

static const struct cli_option option_rows[] = {
	{ 0, "target-loss", "LOSS", CLI_STRING(struct options, target_loss), .default_words = "from the job file",
			.help = "Stop when the loss reaches this value, by the rule of the job file." },
	{ 0, "fixed", NULL, CLI_FLAG(struct options, is_fixed),
			.help = "Do not tune: keep the initial configuration, as a baseline." },
	{ 0, "set", "NAME=VALUE", CLI_STRINGS(struct options, set),
			.help = "Override the initial value of a parameter." },
	{ 0, "seed", "N", CLI_INT(struct options, seed), .min = -1, .max = INT64_MAX, .default_text = "-1",
			.default_words = "from the job file, or 0", .help = "Random seed." },
	{ 'o', "output", "DIR", CLI_PATH(struct options, dir), .default_words = "./sonde-train/NAME",
			.help = "Directory of the journal and the tables; an interrupted job resumes from it." },
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json),
			.help = "Print the result as one JSON object; output of the program goes to stderr." },
	{ 0, "plan", "TEXT", CLI_STRING(struct options, plan_text),
			.help = "Content of the job file, instead of a path (used by sonde submit)." },
	CLI_OPTIONS_END,
};

static int take_target(struct cli_context *ctx, struct train_plan *plan)
{
	const struct options *o = ctx->options;
	char *end;

	if (!o->target_loss)
		return 0;
	plan->target_loss = strtod(o->target_loss, &end);
	return end == o->target_loss || *end || !isfinite(plan->target_loss)
			? cli_usage(ctx, "invalid number '%s' for --target-loss", o->target_loss)
			: 0;
}

static int take_sets(struct cli_context *ctx, struct train_plan *plan)
{
	const struct options *o = ctx->options;

	for (size_t i = 0; i < o->set.count; i++) {
		const char *equals = strchr(o->set.items[i], '=');
		const char *name = equals ? arena_copy(ctx->arena, o->set.items[i], (size_t)(equals - o->set.items[i]))
					  : NULL;
		const struct tune_param *p = name ? tune_space_find(&plan->study.space, name) : NULL;
		int rc;

		if (!name)
			return cli_usage(ctx, "invalid --set '%s': expected NAME=VALUE", o->set.items[i]);
		if (!p)
			return cli_usage(ctx, "--set: unknown parameter '%s'", name);
		rc = tune_param_parse(p, equals + 1, &plan->study.space.params[p - plan->study.space.params].start,
				ctx->err);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int load(struct cli_context *ctx, struct train_plan *plan)
{
	const struct options *o = ctx->options;
	int rc;

	if (o->plan_text && ctx->arg_count)
		return cli_usage(ctx, "--plan and a job file are mutually exclusive");
	if (!o->plan_text && !ctx->arg_count)
		return cli_usage(ctx, "missing job file: sonde train JOB.yml -- PROGRAM");
	rc = o->plan_text ? train_plan_parse(plan, "job", o->plan_text, strlen(o->plan_text), ctx->arena, ctx->err)
			  : train_plan_load(plan, ctx->args[0], ctx->arena, ctx->err);
	if (rc < 0)
		return rc;
	if (o->seed >= 0)
		plan->seed = o->seed;
	if (o->is_fixed)
		plan->mode = TRAIN_FIXED;
	rc = take_target(ctx, plan);
	return rc < 0 ? rc : take_sets(ctx, plan);
}

static void show(void *arg, const struct online_controller *c)
{
	struct term_progress *progress = arg;
	const struct online_stage *now = online_controller_now(c);
	struct stats_interval remaining = online_controller_remaining(c);

	if (isfinite(remaining.estimate))
		term_progress_show(progress,
				"configuration %u (%s), %zu iterations, about %.0f s remaining (%.0f to %.0f)",
				now->index, train_reason_word(now->reason), c->loss_count, remaining.estimate,
				remaining.lo, remaining.hi);
	else
		term_progress_show(progress, "configuration %u (%s), %zu iterations", now->index,
				train_reason_word(now->reason), c->loss_count);
}

/* Prints the configuration to start the next job with. */
static void print_best(struct online_controller *c)
{
	const struct tune_space *space = c->optimizer.space;
	struct progress_cost cost;
	const double *best;

	if (progress_cost_best(c, &best, &cost, NULL) < 0 || !best)
		return;
	printf("best:");
	for (size_t i = 0; i < space->count; i++) {
		char value[512];

		if (isnan(best[i]))
			continue;
		tune_param_format(&space->params[i], best[i], value, sizeof(value));
		printf(" %s=%s", space->params[i].name, value);
	}
	printf(", %.3g s per iteration\n", cost.mean);
}

/* Explains missing or unusable results; NULL: none. */
static const char *remark(const struct online_controller *c)
{
	const struct online_stage *now = c->stage_count ? online_controller_now(c) : NULL;

	if (!c->loss_count)
		return "the program reported no losses; see sonde-train(1)";
	if (now && !now->is_restart && !now->count && now->meanwhile >= DEAF_REPORTS)
		return "the program did not apply new settings: it must call changed() or read its knobs "
		       "during training";
	return isfinite(c->losses[c->loss_count - 1]) ? NULL : "the last loss is not finite: training has diverged";
}

static void print_text(struct cli_context *ctx, struct online_controller *c, const struct train_outcome *outcome,
		const char *dir)
{
	printf("%s after %.1f s: %zu iterations, %zu configurations, %zu reconfigurations\n",
			c->is_reached ? "target reached" : outcome->why, outcome->runtime_s, c->loss_count,
			c->stage_count, c->moves);
	print_best(c);
	if (remark(c))
		printf("%s\n", remark(c));
	if (outcome->bad_lines)
		printf("%llu lines of the program are not valid reports\n", (unsigned long long)outcome->bad_lines);
	printf("tables: %s\n", dir);
}

/* Removes the checkpoint of another job, unless this one is resumed. */
static int make_place(struct cli_context *ctx, const struct train_record *record, struct train_drive *d, char *absolute)
{
	const char *place = arena_printf(ctx->arena, "%s/checkpoint", record->dir);
	int rc = place ? 0 : err_sys(ctx->err, ENOMEM, "cannot run the job");

	if (rc == 0 && !record->is_resumed)
		fs_remove_tree(AT_FDCWD, place);
	if (rc == 0)
		rc = fs_mkdir_p(place, 0700, ctx->err);
	if (rc < 0)
		return rc;
	d->dir = realpath(place, absolute);
	return d->dir ? 0 : err_sys(ctx->err, errno, "cannot find '%s'", place);
}

static int drive(struct cli_context *ctx, struct train_drive *d, const char *dir)
{
	const struct options *o = ctx->options;
	CLEANUP(buf_release) struct buf json = BUF_INIT;
	struct train_outcome outcome;
	struct term_progress progress;
	int rc;

	term_progress_init(&progress);
	d->show = show;
	d->arg = &progress;
	d->is_interrupted = &interrupt_came;
	d->is_output_aside = o->is_json;
	interrupt_catch();
	rc = train_drive(d, &outcome, ctx->err);
	term_progress_end(&progress);
	if (rc == 0)
		rc = train_record_conclude(d->record, d->controller, outcome.runtime_s, &json, ctx->err);
	if (rc < 0)
		return rc;
	if (o->is_json)
		fputs(json.data, stdout);
	else
		print_text(ctx, d->controller, &outcome, dir);
	ctx->exit_code = outcome.exit_code ? outcome.exit_code
			: strcmp(outcome.why, "interrupted") == 0 || strcmp(outcome.why, "timeout") == 0
			? CLI_EXIT_FAILED
			: 0;
	return 0;
}

static int run_job(struct cli_context *ctx, const struct train_plan *plan, struct online_controller *controller)
{
	const struct options *o = ctx->options;
	const char *given = getenv("SONDE_JOB_ID"), *id = given, *dir = o->dir;
	time_t now = time(NULL);
	struct tm tm;
	char when[32];
	CLEANUP(train_record_release) struct train_record record = { 0 };
	struct train_drive d = { .plan = plan, .controller = controller, .record = &record };
	char absolute[PATH_MAX];
	int rc;

	/* "<name>_<mmdd_HHMMSS>", as SelfTF; in a fleet, the ID of the job. */
	strftime(when, sizeof(when), "%m%d_%H%M%S", localtime_r(&now, &tm));
	if (!given || !*given)
		id = arena_printf(ctx->arena, "%s_%s", plan->name, when);
	d.id = id;
	if (!dir)
		dir = arena_printf(ctx->arena, "sonde-train/%s", given ? id : plan->name);
	d.argv = ctx->program && ctx->program[0] ? ctx->program : (char *const *)(uintptr_t)plan->command;
	if (!d.argv || !d.argv[0])
		return cli_usage(ctx, "missing program: sonde train JOB.yml -- PROGRAM, or 'command' in the job file");
	if (!dir || !id)
		return err_sys(ctx->err, ENOMEM, "cannot run the job");
	rc = train_record_open(&record, dir, id, controller, ctx->err);
	if (rc == 0)
		rc = make_place(ctx, &record, &d, absolute);
	if (rc == 0 && record.is_resumed && !o->is_json)
		printf("%s: resuming after %zu configurations\n", plan->name, controller->stage_count);
	fflush(stdout); /* the program writes to the same stdout */
	return rc < 0 ? rc : drive(ctx, &d, dir);
}

static int run(struct cli_context *ctx)
{
	struct train_plan *plan = arena_alloc(ctx->arena, sizeof(*plan));
	struct online_controller *controller = arena_alloc(ctx->arena, sizeof(*controller));
	int rc = plan && controller ? load(ctx, plan) : err_sys(ctx->err, ENOMEM, "cannot read the job");

	if (rc)
		return rc;
	rc = online_controller_init(controller, plan, ctx->err);
	if (rc == 0)
		rc = run_job(ctx, plan, controller);
	online_controller_release(controller);
	return rc;
}

static const struct cli_example examples[] = {
	{ "sonde train cnn.yml -- python3 cnn.py", "Train, and tune servers, workers and threads online." },
	{ "sonde train --fixed --set workers=2 cnn.yml -- python3 cnn.py",
			"Train with one configuration, as a baseline." },
	{ "sonde submit --tune cnn.yml -- python3 cnn.py", "Train on a cluster." },
	{ NULL, NULL },
};

static const struct cli_exit_code exit_codes[] = {
	{ "0", "The target was reached, or the program succeeded." },
	{ "1", "Interrupted, out of time, or failure of sonde; run again to resume an interrupted job." },
	{ "2", "Usage error." },
	{ "other", "The exit status of the program, if it failed." },
	{ NULL, NULL },
};

const struct cli_command cmd_train = {
	.name = "train",
	.usage = "[--target-loss LOSS] [--fixed] [--set NAME=VALUE] [--json] [-o DIR] JOB.yml [-- PROGRAM...]",
	.positional = { .name = "JOB",
			.min = 0,
			.max = 1,
			.type = CLI_TYPE_PATH,
			.help = "Job file: parameters to tune, and the target." },
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.exit_codes = exit_codes,
	.flags = CLI_TAKES_PROGRAM,
	.run = run,
};
