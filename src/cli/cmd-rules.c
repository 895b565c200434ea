/*
 * sonde rules: check or explain a rules file, replay it over a recorded run, or convert Waggle science rules.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/json.h"
#include "cli/cli.h"
#include "live/control/rules-replay.h"
#include "live/rules/waggle.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define IMPORT_BYTES_MAX ((size_t)1 << 20)

struct options {
	const char *run;
	const char *app;
	const char *broker;
	const char *schedule;
	int64_t at_ns;
	bool is_json;
};

static const struct cli_option option_rows[] = {
	{ 'r', "run", "RUN", CLI_RUN(struct options, run),
			.help = "With explain: evaluate the rules in this run, at the time of --at." },
	{ 0, "at", "TIME", CLI_DURATION(struct options, at_ns), .default_words = "the start",
			.help = "With explain --run: time since the start of the run." },
	{ 0, "app", "NAME", CLI_STRING(struct options, app), .default_words = "the name of the run",
			.help = "Name of the application in the rules; with import, the target of set()." },
	{ 0, "broker", "HOST:PORT", CLI_STRING(struct options, broker), .default_words = "none (report only)",
			.help = "With import: MQTT broker for publish()." },
	{ 0, "schedule", "ACTION", CLI_STRING(struct options, schedule), .default_words = "report only",
			.help = "With import: command for schedule(); {} is replaced by the plugin." },
	{ 0, "json", NULL, CLI_FLAG(struct options, is_json),
			.help = "Print JSON; replay prints one object per line." },
	CLI_OPTIONS_END,
};

static void print_check(const struct rules_file *f, bool is_json)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct json j;

	if (!is_json) {
		printf("%zu rules and %zu regulators are valid\n", f->rule_count, f->regulator_count);
		return;
	}
	json_init(&j, &text, false);
	json_object(&j);
	json_kuint(&j, "rules", f->rule_count);
	json_kuint(&j, "regulators", f->regulator_count);
	json_end(&j);
	printf("%s\n", text.data);
}

static double seconds(int64_t ns)
{
	return (double)ns / 1e9;
}

static void print_actions(const char *word, const struct action *all, size_t count)
{
	for (size_t i = 0; i < count; i++)
		printf("  %s %s\n", word, all[i].text);
}

static void print_rule(const struct rule *r)
{
	printf("rule %s\n  when %s\n", r->name, r->when_text);
	if (r->for_ns)
		printf("  for %gs\n", seconds(r->for_ns));
	print_actions("do", r->actions, r->action_count);
	if (r->until)
		printf("  until %s\n", r->until_text);
	print_actions("else", r->otherwise, r->otherwise_count);
	printf("  then restore the changed settings\n");
	if (r->cooldown_ns)
		printf("  cooldown %gs\n", seconds(r->cooldown_ns));
	printf("  if the condition is unknown: no new actions; treated as false after %gs\n", seconds(r->hold_ns));
}

static void print_regulator(const struct rules_regulator *g)
{
	static const char *const methods[] = { "aimd", "pi", "threshold" };
	const struct regulator_settings *s = &g->settings;

	printf("regulator %s\n  hold %s at %s %g, dead band %g%%, by %s\n", g->name, g->measure_text,
			s->is_upper ? "most" : "least", s->target, 100 * s->band, methods[s->method]);
	print_actions("by", g->rungs, s->rung_count);
	printf("  saturated after %gs at the limit; then the next regulator, or a report and a retry after %gs\n",
			seconds(s->saturation_ns), seconds(s->retry_ns));
}

static void print_app(const struct rules_app *a)
{
	printf("application %s%s", a->name, a->is_protected ? ", protected" : "");
	if (a->floor_cpus > 0)
		printf(", at least %g processors", a->floor_cpus);
	if (a->floor_weight > 0)
		printf(", weight at least %g", a->floor_weight);
	if (a->floor_memory > 0)
		printf(", memory at least %.0fM", a->floor_memory / 1048576);
	printf("\n");
}

static void print_plan(const struct rules_file *f)
{
	printf("evaluated every %gs%s; samples older than %gs are unknown; up to %lld actions per minute\n",
			seconds(f->interval_ns), f->is_dry_run ? ", dry run" : "", seconds(f->stale_ns),
			(long long)f->rate_max);
	for (size_t i = 0; i < f->app_count; i++)
		print_app(&f->apps[i]);
	for (size_t i = 0; i < f->rule_count; i++)
		print_rule(&f->rules[i]);
	for (size_t i = 0; i < f->regulator_count; i++)
		print_regulator(&f->regulators[i]);
}

struct printer {
	bool is_json;
	size_t count;
};

static void print_event(void *arg, const struct replay_event *e)
{
	struct printer *p = arg;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct json j;

	p->count++;
	if (!p->is_json) {
		printf("%9.3f  %s: %s", e->seconds, e->who, e->action);
		if (!isnan(e->value))
			printf(" -> %.6g", e->value);
		printf("  (%s)\n", e->why);
		return;
	}
	json_init(&j, &text, false);
	json_object(&j);
	json_kreal(&j, "seconds", e->seconds);
	json_kstr(&j, "rule", e->who);
	json_kstr(&j, "action", e->action);
	if (!isnan(e->value))
		json_kreal(&j, "value", e->value);
	json_kstr(&j, "why", e->why);
	json_end(&j);
	printf("%s\n", text.data);
}

static int replay(struct cli_context *ctx, const struct rules_file *f)
{
	const struct options *o = ctx->options;
	struct printer p = { o->is_json, 0 };
	struct replay r = { .file = f, .app = o->app, .tell = print_event, .arg = &p, .explain_seconds = NAN };
	int rc;

	if (ctx->arg_count < 3)
		return cli_usage(ctx, "replay requires a rules file and a run: sonde rules replay FILE RUN");
	rc = replay_run(&r, ctx->args[2], ctx->err);
	if (rc == 0 && !p.count && !o->is_json)
		printf("no actions\n");
	return rc;
}

static void ignore(void *arg, const struct replay_event *e)
{
	(void)arg;
	(void)e;
}

static int explain(struct cli_context *ctx, const struct rules_file *f)
{
	const struct options *o = ctx->options;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct replay r = { .file = f,
		.app = o->app,
		.tell = ignore,
		.explain_seconds = seconds(o->at_ns),
		.explained = &text };
	int rc;

	if (!o->run) {
		print_plan(f);
		return 0;
	}
	rc = replay_run(&r, o->run, ctx->err);
	fputs(text.data, stdout);
	return rc;
}

/* Prints the rules file converted from a file of Waggle science rules. */
static int import(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	const struct waggle_options w = { .schedule = o->schedule, .broker = o->broker, .app = o->app };
	CLEANUP(buf_release) struct buf text = BUF_INIT, rules = BUF_INIT;
	int rc = fs_read_file(AT_FDCWD, ctx->args[1], IMPORT_BYTES_MAX, &text, ctx->err);

	if (rc == 0 && (rc = waggle_import(&rules, text.data, &w, ctx->arena, ctx->err)) < 0)
		err_prefix(ctx->err, "'%s'", ctx->args[1]);
	if (rc == 0)
		fputs(rules.data, stdout);
	return rc;
}

static const char *const actions[] = { "check", "explain", "replay", "import", NULL };

static int run(struct cli_context *ctx)
{
	const struct options *o = ctx->options;
	struct rules_file *f = arena_alloc(ctx->arena, sizeof(*f));
	int rc;

	for (size_t i = 0; actions[i] && strcmp(actions[i], ctx->args[0]) != 0; i++)
		if (!actions[i + 1])
			return cli_usage(ctx, "unknown action '%s' (supported: check, explain, replay, import)",
					ctx->args[0]);
	if (ctx->arg_count > 2 && strcmp(ctx->args[0], "replay") != 0)
		return cli_usage(ctx, "'%s' takes one file", ctx->args[0]);
	if (strcmp(ctx->args[0], "import") == 0)
		return import(ctx);
	rc = f ? rules_load(f, ctx->args[1], ctx->arena, ctx->err) : err_sys(ctx->err, ENOMEM, "cannot read the rules");
	if (rc < 0)
		return rc;
	if (strcmp(ctx->args[0], "replay") == 0)
		return replay(ctx, f);
	if (strcmp(ctx->args[0], "explain") == 0)
		return explain(ctx, f);
	print_check(f, o->is_json);
	return 0;
}

static const struct cli_example examples[] = {
	{ "sonde rules check edge.yml", "Validate a rules file; errors have the line and what was expected." },
	{ "sonde rules explain edge.yml --run morning --at 30s", "Evaluate the rules at 30 s of a run." },
	{ "sonde rules replay edge.yml morning",
			"Print the actions that the rules would have caused in a run, and why." },
	{ "sonde rules import job.yml --app detector >edge.yml", "Convert Waggle science rules to a rules file." },
	{ NULL, NULL },
};

static const struct cli_exit_code exit_codes[] = {
	{ "0", "The file is valid." },
	{ "1", "The file is invalid, or the run cannot be read." },
	{ "2", "Usage error." },
	{ NULL, NULL },
};

const struct cli_command cmd_rules = {
	.name = "rules",
	.usage = "check FILE | explain FILE [--run RUN [--at TIME]] | replay FILE RUN [--json] | import FILE",
	.positional = { .name = "ACTION",
			.min = 2,
			.max = 3,
			.type = CLI_TYPE_STRING,
			.help = "check, explain, replay or import; then the file and, with replay, the run." },
	.options = option_rows,
	.options_size = sizeof(struct options),
	.examples = examples,
	.exit_codes = exit_codes,
	.run = run,
};
