/*
 * sonde duet: compare two programs on a noisy machine.
 */
#include "base/shell-words.h"
#include "cli/duet-cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const design_words[] = { "auto", "seq", "rmit", "sync", "async", NULL };
static const char *const better_words[] = { "lower", "higher", NULL };
static const char *const priority_words[] = { "auto", "none", NULL };
static const char *const pin_words[] = { "auto", "none", NULL };
static const char *const iteration_words[] = { "command", "fd", "step", NULL };
static const char *const fail_words[] = { "slower", "inconclusive", NULL };

/* Parses "1%" as a fraction; rejects trailing text. */
static int parse_percent(const char *value, double *share, struct sonde_err *err)
{
	char *end;
	double number = strtod(value, &end);

	if (end == value || strcmp(end, "%") != 0 || !isfinite(number))
		return err_set(err, EINVAL, "'%s' is not a percentage such as 95%% or 0.5%%", value);
	*share = number / 100;
	return 0;
}

static int set_threshold(const struct cli_option *option, const char *value, void *options, struct sonde_err *err)
{
	double share = 0;
	int rc = parse_percent(value, &share, err);

	if (!rc && !(share >= 0 && share <= 10))
		return err_set(err, EINVAL, "'%s' is not between 0%% and 1000%%", value);
	if (!rc)
		((struct duet_options *)options)->margin = 1 + share;
	return rc;
}

static int set_level(const struct cli_option *option, const char *value, void *options, struct sonde_err *err)
{
	double share = 0;
	int rc = parse_percent(value, &share, err);

	if (!rc && !(share >= 0.5 && share <= 0.9999))
		return err_set(err, EINVAL, "'%s' is not between 50%% and 99.99%%", value);
	if (!rc)
		((struct duet_options *)options)->level = share;
	return rc;
}

static int set_metric(const struct cli_option *option, const char *value, void *options, struct sonde_err *err)
{
	struct duet_options *o = options;
	size_t prefix = strlen(DUET_COUNTER_PREFIX);
	const char *nearest;

	if (!strncmp(value, DUET_COUNTER_PREFIX, prefix) && value[prefix]) {
		o->counter = value;
		o->metric = DUET_VALUE;
		return 0;
	}
	for (int i = 0; duet_metric_names[i]; i++)
		if (!strcmp(duet_metric_names[i], value)) {
			o->counter = NULL;
			o->metric = i;
			return 0;
		}
	err_set(err, EINVAL, "'%s' is no metric", value);
	nearest = words_nearest(value, duet_metric_names);
	if (nearest)
		err_hint(err, "did you mean '%s'?", nearest);
	return -EINVAL;
}

#define O struct duet_options
static const struct cli_option option_rows[] = {
	{ 'a', "command-a", "COMMAND", CLI_STRING(O, commands[DUET_A]),
			.help = "The program to compare with: the old one, the baseline." },
	{ 'b', "command-b", "COMMAND", CLI_STRING(O, commands[DUET_B]),
			.help = "The program that is compared: the new one." },
	{ 0, "git", "A..B", CLI_STRING(O, git),
			.help = "Compare two revisions: the command after -- runs in a worktree of each; its first "
				"execution, which may build, counts neither as a run nor for the budget." },
	{ 0, "iterations", "WHAT", CLI_CHOICE(O, iterations), .choices = iteration_words, .default_text = "command",
			.help = "What an iteration is: an execution, what programs tell on $SONDE_DUET_FD, "
				"or steps of sonde_step." },
	{ 0, "step", "NAME", CLI_STRING(O, step), .default_words = "the most frequent",
			.help = "With --iterations step: the steps of this name." },
	{ 0, "explain", NULL, CLI_FLAG(O, is_explained),
			.help = "Then record both a few times, and say which functions, waits, calls and files "
				"carry the difference." },
	{ 0, "shell", NULL, CLI_FLAG(O, is_shell), .help = "Let /bin/sh run the commands." },
	{ 0, "metric", "METRIC", CLI_SETTER(set_metric), .default_text = "wall",
			.help = "What is compared: wall (time that passes), cpu, user or system (processor time), rss "
				"(memory), faults, major_faults, waits, preemptions, blocks_read, blocks_written, "
				"value (of iterations), or counter:NAME, a counter of the recorded programs." },
	{ 0, "better", "WHICH", CLI_CHOICE(O, better), .choices = better_words, .default_text = "lower",
			.help = "Which is better, lower or higher values; \"slower\" then means worse." },
	{ 0, "threshold", "PERCENT", CLI_SETTER(set_threshold), .default_text = "1%",
			.help = "The change that matters: less is equivalent." },
	{ 0, "level", "PERCENT", CLI_SETTER(set_level), .default_text = "95%", .help = "Confidence of the interval." },
	{ 0, "interval", "HOW", CLI_CHOICE(O, interval), .choices = duet_interval_names, .default_text = "auto",
			.help = "How it is made: auto is Student's t of few runs, ranks or signs of ten and more; t, "
				"ranks and signs always these; bootstrap, of twenty runs and more, draws runs and then "
				"the pairs of each." },
	{ 0, "fail-on", "LIST", CLI_WORDS(O, fail_on), .choices = fail_words, .default_text = "slower",
			.help = "Also fail, with 4, when the answer is inconclusive." },
	{ 0, "budget", "TIME", CLI_DURATION(O, budget_ns), .min = 1000000, .max = INT64_MAX / 16, .default_text = "10s",
			.group = "Measuring", .help = "Time to spend; it ends earlier when the answer is certain." },
	{ 0, "design", "DESIGN", CLI_CHOICE(O, design), .choices = design_words, .default_text = "auto",
			.group = "Measuring",
			.help = "How the two share machine and time; auto lets a short pilot of A against "
				"itself decide." },
	{ 0, "seed", "N", CLI_INT(O, seed), .min = -1, .max = INT64_MAX, .default_text = "-1",
			.default_words = "another each time", .group = "Measuring",
			.help = "Of the random order, to repeat it." },
	{ 0, "pairs", "N", CLI_INT(O, pairs), .min = 0, .max = 4096, .default_text = "0",
			.default_words = "by the budget", .group = "Measuring",
			.help = "Pairs of iterations in a run." },
	{ 0, "runs", "N", CLI_INT(O, runs), .min = 0, .max = 100000, .default_text = "0",
			.default_words = "by the budget", .group = "Measuring", .help = "Make at most so many runs." },
	{ 0, "timeout", "TIME", CLI_DURATION(O, timeout_ns), .default_text = "0",
			.default_words = "10 times the budget", .group = "Measuring",
			.help = "Stop an execution that takes longer, and fail." },
	{ 0, "pin", "HOW", CLI_CHOICE(O, pin), .choices = pin_words, .default_text = "auto", .group = "Measuring",
			.help = "auto gives programs that run side by side half of the CPUs each, exchanged in turn." },
	{ 0, "priority", "WHICH", CLI_CHOICE(O, priority), .choices = priority_words, .default_text = "auto",
			.group = "Measuring",
			.help = "auto runs the programs ahead of all others where the system lets us, else in "
				"sessions of their own, so that others disturb less." },
	{ 0, "no-self-check", NULL, CLI_FLAG(O, has_no_self_check), .group = "Measuring",
			.help = "Do not compare A with itself first." },
	{ 'i', "ignore-failure", NULL, CLI_FLAG(O, is_lenient), .group = "Measuring",
			.help = "Go on when a command exits with an error." },
	{ 0, "show-output", NULL, CLI_FLAG(O, has_output), .group = "Measuring",
			.help = "Show what the commands print, on standard error." },
	PLACE_ROWS(O, place, "The programs' place"),
	{ 0, "json", NULL, CLI_FLAG(O, is_json), .group = "Output", .help = "Print one JSON object." },
	{ 0, "csv", NULL, CLI_FLAG(O, is_csv), .group = "Output", .help = "Print a table of comma-separated values." },
	{ 0, "markdown", NULL, CLI_FLAG(O, is_markdown), .group = "Output",
			.help = "Print Markdown for a pull request." },
	{ 0, "samples", NULL, CLI_FLAG(O, has_samples), .group = "Output",
			.help = "With --json: every iteration and pair too." },
	{ 0, "history", "FILE", CLI_PATH(O, history), .group = "Output",
			.help = "Add the result to this SQLite file." },
	{ 0, "label", "TEXT", CLI_STRING(O, label), .group = "Output",
			.help = "Of the result in the history: a revision, a date." },
	{ 0, "html", "FILE", CLI_PATH(O, html), .group = "Output",
			.help = "Also write a page that needs nothing else." },
	{ 'o', "outdir", "PATH", CLI_PATH(O, outdir), .group = "Suites and results",
			.default_words = "results.DATE-TIME, standard output",
			.help = "Directory for the results of suites, which must not exist, or for the "
				"journal of a comparison; the file that process and overlaps write." },
	{ 0, "output", "FILE", CLI_PATH(O, outdir), .group = "Suites and results", .help = "The same as --outdir." },
	{ 'f', "force", NULL, CLI_FLAG(O, is_forced), .group = "Suites and results",
			.help = "Write into a directory that exists." },
	{ 0, "resume", NULL, CLI_FLAG(O, is_resumed), .group = "Suites and results",
			.help = "Go on in a directory: what is finished stays." },
	{ 'd', "docker", "COMMAND", CLI_STRING(O, docker), .group = "Suites and results",
			.default_words = "the suite's docker_command",
			.help = "What runs containers: podman, docker." },
	{ 0, "filter", "NAME", CLI_STRINGS(O, filter), .group = "Suites and results",
			.help = "Only this duet of the suite; repeatable." },
	{ 'v', "verbose", NULL, CLI_FLAG(O, is_verbose), .group = "Suites and results",
			.help = "Say what is done, and show what commands print." },
	{ 'c', "config", "FILE", CLI_PATH(O, config), .group = "Suites and results",
			.help = "The suite that the results are of, when their names do not tell how to read them." },
	{ 0, "regex", "PATTERN", CLI_STRING(O, regex), .group = "Suites and results",
			.help = "Read times from any text: one group is a time, two are start and end." },
	{ 0, "unit", "TIME", CLI_DURATION(O, unit_ns), .min = 1, .max = 3600000000000, .default_text = "1s",
			.group = "Suites and results", .help = "Unit of the numbers that --regex finds." },
	CLI_OPTIONS_END,
};
#undef O

static const struct action {
	const char *word;
	int (*run)(struct cli_context *ctx);
} actions[] = {
	{ "process", duet_run_process },
	{ "overlaps", duet_run_overlaps },
	{ "report", duet_run_report },
	{ "history", duet_run_history },
	{ "runs", duet_run_runs },
	{ "images", duet_run_images },
	{ "preset", duet_run_preset },
};

/* Reports an unknown word that is similar to an action and not a file. */
static bool is_typo(struct cli_context *ctx, const char *word)
{
	const char *words[sizeof(actions) / sizeof(*actions) + 1] = { NULL }, *nearest;

	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		words[i] = actions[i].word;
	nearest = access(word, F_OK) == 0 ? NULL : words_nearest(word, words);
	if (!nearest)
		return false;
	cli_usage(ctx, "'%s' is neither a file nor an action", word);
	err_hint(ctx->err, "did you mean '%s'?", nearest);
	return true;
}

static int run(struct cli_context *ctx)
{
	const struct duet_options *o = ctx->options;

	if (o->is_json + o->is_csv + o->is_markdown > 1)
		return cli_usage(ctx, "--json, --csv and --markdown do not go together");
	if (!ctx->arg_count)
		return duet_run_compare(ctx);
	if (o->commands[DUET_A] || o->commands[DUET_B])
		return cli_usage(ctx, "-a and -b do not go together with '%s'", ctx->args[0]);
	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (!strcmp(actions[i].word, ctx->args[0]))
			return actions[i].run(ctx);
	return is_typo(ctx, ctx->args[0]) ? -EINVAL : duet_run_suites(ctx);
}

static const struct cli_example examples[] = {
	{ "sonde duet -a './old input' -b './new input'",
			"Is the new one slower? Exit code 3 when it is, by more than 1 %." },
	{ "sonde duet -a ./old -b ./new --metric cpu --threshold 0.5% --budget 1m --json",
			"Smaller changes, for a script." },
	{ "sonde duet --git main..HEAD -- make bench", "Two revisions, each built in a worktree of its own." },
	{ "sonde duet --docker podman -o results suite.yml", "Run a suite of the original duetbench in containers." },
	{ "sonde duet report results --html results.html", "What the results of a suite say." },
	{ "sonde duet runs old-1 old-2 -- new-1 new-2", "Runs that were recorded before: steps, or whole programs." },
	{ "sonde duet process results -o results.csv", "Its iterations as a table." },
	{ NULL, NULL },
};

static const struct cli_exit_code exit_codes[] = {
	{ "0", "B is faster, equivalent, or it could not be decided." },
	{ "1", "It failed: a command failed or took too long, or something could not be written." },
	{ "2", "The command line is wrong." },
	{ "3", "B is slower than A by more than the threshold." },
	{ "4", "With --fail-on inconclusive: it could not be decided." },
	{ "128+N", "Signal N interrupted it; what was measured before is printed." },
	{ NULL, NULL },
};

const struct cli_command cmd_duet = {
	.name = "duet",
	.positional = { .name = "SUITE|ACTION",
			.min = 0,
			.max = SIZE_MAX,
			.type = CLI_TYPE_PATH,
			.help = "Configuration files of suites to run; or process, overlaps or report and "
				"directories of results; runs A... -- B..., bundles recorded before; history "
				"FILE; images build DIR... or move HOST IMAGE...; preset SUITE." },
	.usage = "-a COMMAND -b COMMAND [--metric METRIC] [--threshold PERCENT] [--budget TIME] [--design DESIGN]",
	.options = option_rows,
	.options_size = sizeof(struct duet_options),
	.examples = examples,
	.exit_codes = exit_codes,
	.flags = CLI_TAKES_PROGRAM,
	.run = run,
};
