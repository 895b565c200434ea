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

/* Parses "1%" or "1" as a fraction; rejects trailing text. */
static int parse_percent(const char *value, double *share, struct sonde_err *err)
{
	char *end;
	double number = strtod(value, &end);

	if (end == value || (*end && strcmp(end, "%") != 0) || !isfinite(number))
		return err_set(err, EINVAL, "invalid percentage '%s': expected for example 95%% or 0.5%%", value);
	*share = number / 100;
	return 0;
}

static int set_threshold(const struct cli_option *option, const char *value, void *options, struct sonde_err *err)
{
	double share = 0;
	int rc = parse_percent(value, &share, err);

	if (!rc && !(share >= 0 && share <= 10))
		return err_set(err, EINVAL, "'%s' is out of range: 0%% to 1000%%", value);
	if (!rc)
		((struct duet_options *)options)->margin = 1 + share;
	return rc;
}

static int set_level(const struct cli_option *option, const char *value, void *options, struct sonde_err *err)
{
	double share = 0;
	int rc = parse_percent(value, &share, err);

	if (!rc && !(share >= 0.5 && share <= 0.9999))
		return err_set(err, EINVAL, "'%s' is out of range: 50%% to 99.99%%", value);
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
	err_set(err, EINVAL, "unknown metric '%s'", value);
	nearest = words_nearest(value, duet_metric_names);
	if (nearest)
		err_hint(err, "did you mean '%s'?", nearest);
	return -EINVAL;
}

/* A format of the output: to standard output, or to a file. */
static int set_format(const struct cli_option *option, const char *value, void *options, struct sonde_err *err)
{
	*(const char **)((char *)options + option->offset) = value ? value : "";
	return 0;
}

/* --shell[=SHELL], with hyperfine's words */
static int set_shell(const struct cli_option *option, const char *value, void *options, struct sonde_err *err)
{
	struct duet_options *o = options;

	o->shell = value;
	if (!value || !strcmp(value, "default"))
		o->shell = DUET_SHELL;
	else if (!strcmp(value, "none"))
		o->shell = NULL;
	return value && !*value ? err_set(err, EINVAL, "the name of the shell is empty") : 0;
}

#define O struct duet_options
static const struct cli_option option_rows[] = {
	{ 'a', "command-a", "COMMAND", CLI_STRING(O, commands[DUET_A]), .help = "Command A, the baseline." },
	{ 'b', "command-b", "COMMAND", CLI_STRING(O, commands[DUET_B]), .help = "Command B, the candidate." },
	{ 0, "git", "A..B", CLI_STRING(O, git),
			.help = "Compare two git revisions: run the command after -- in a worktree of each. Its first "
				"execution, which may build, is not measured and not charged to the budget." },
	{ 0, "iterations", "WHAT", CLI_CHOICE(O, iterations), .choices = iteration_words, .default_text = "command",
			.help = "Unit that is measured: an execution of the command, values that it writes to "
				"$SONDE_DUET_FD, or steps of sonde_step()." },
	{ 0, "step", "NAME", CLI_STRING(O, step), .default_words = "the most frequent one",
			.help = "With --iterations step: name of the steps." },
	{ 0, "explain", NULL, CLI_FLAG(O, is_explained),
			.help = "Record both sides a few times and report which functions, waits, calls and files "
				"explain the difference." },
	{ 0, "shell", "[=SHELL]", CLI_SETTER(set_shell), .default_words = "none",
			.help = "Run the commands with a shell: " DUET_SHELL
				", or a command line such as 'bash --norc'. Its start is part of the measured time." },
	{ 0, "metric", "METRIC", CLI_SETTER(set_metric), .default_text = "wall",
			.help = "Metric to compare: wall, cpu, user or system (time), rss (peak memory), faults, "
				"major_faults, waits, preemptions, blocks_read, blocks_written, value (reported by "
				"iterations), or counter:NAME (a counter of the recorded programs)." },
	{ 0, "better", "WHICH", CLI_CHOICE(O, better), .choices = better_words, .default_text = "lower",
			.help = "Whether lower or higher values are better; the verdict \"slower\" means worse." },
	{ 0, "threshold", "PERCENT", CLI_SETTER(set_threshold), .default_text = "1%",
			.help = "Smallest relevant change; smaller ones are equivalent." },
	{ 0, "level", "PERCENT", CLI_SETTER(set_level), .default_text = "95%",
			.help = "Confidence level of the interval." },
	{ 0, "interval", "HOW", CLI_CHOICE(O, interval), .choices = duet_interval_names, .default_text = "auto",
			.help = "Method of the confidence interval: t (Student), ranks, signs, or bootstrap (over "
				"runs and their pairs, for 20 or more runs). auto uses t for fewer than ten runs, "
				"else ranks or signs." },
	{ 0, "fail-on", "LIST", CLI_WORDS(O, fail_on), .choices = fail_words, .default_text = "slower",
			.help = "Verdicts that make the exit status nonzero: slower (3), inconclusive (4)." },
	{ 0, "budget", "TIME", CLI_DURATION(O, budget_ns), .min = 1000000, .max = INT64_MAX / 16, .default_text = "10s",
			.group = "Measuring", .help = "Time budget; stops earlier if the verdict is certain." },
	{ 0, "sessions", "N", CLI_INT(O, sessions), .min = 1, .max = 100, .default_text = "1", .group = "Measuring",
			.help = "Repeat the comparison in N sessions, each with its share of the budget. They are the "
				"observations then: the interval includes what differs between sessions." },
	{ 0, "confirm", NULL, CLI_FLAG(O, is_confirmed), .group = "Measuring", .help = "At least three sessions." },
	{ 0, "design", "DESIGN", CLI_CHOICE(O, design), .choices = design_words, .default_text = "auto",
			.group = "Measuring",
			.help = "Experimental design: sequential, interleaved, or side by side; auto chooses with a "
				"short pilot of A against itself." },
	{ 0, "seed", "N", CLI_INT(O, seed), .min = -1, .max = INT64_MAX, .default_text = "-1",
			.default_words = "random", .group = "Measuring",
			.help = "Seed of the random order, to repeat a comparison." },
	{ 0, "pairs", "N", CLI_INT(O, pairs), .min = 0, .max = 4096, .default_text = "0",
			.default_words = "from the budget", .group = "Measuring",
			.help = "Pairs of iterations per run." },
	{ 0, "runs", "N", CLI_INT(O, runs), .min = 0, .max = 100000, .default_text = "0",
			.default_words = "from the budget", .group = "Measuring", .help = "Maximum number of runs." },
	{ 0, "timeout", "TIME", CLI_DURATION(O, timeout_ns), .default_text = "0",
			.default_words = "10 times the budget", .group = "Measuring",
			.help = "Timeout of one execution; exceeding it is an error." },
	{ 0, "pin", "HOW", CLI_CHOICE(O, pin), .choices = pin_words, .default_text = "auto", .group = "Measuring",
			.help = "auto pins programs that run side by side to half of the CPUs each, and swaps the "
				"halves regularly." },
	{ 0, "priority", "WHICH", CLI_CHOICE(O, priority), .choices = priority_words, .default_text = "auto",
			.group = "Measuring",
			.help = "auto raises the scheduling priority of the programs if permitted, else runs each in a "
				"separate session, to reduce interference." },
	{ 0, "no-self-check", NULL, CLI_FLAG(O, has_no_self_check), .group = "Measuring",
			.help = "Skip the initial comparison of A with itself." },
	{ 'i', "ignore-failure", NULL, CLI_FLAG(O, is_lenient), .group = "Measuring",
			.help = "Continue if a command exits with an error." },
	{ 0, "show-output", NULL, CLI_FLAG(O, has_output), .group = "Measuring",
			.help = "Show the output of the commands on standard error." },
	{ 0, "setup", "COMMAND", CLI_STRINGS(O, setup), .group = "Around the executions",
			.help = "Run this shell command once before all executions. If repeated: one for each "
				"command." },
	{ 0, "prepare", "COMMAND", CLI_STRINGS(O, prepare), .group = "Around the executions",
			.help = "Run this shell command before each execution, outside the measured time, for example "
				"to restore files or caches. If repeated: one for each command." },
	{ 0, "conclude", "COMMAND", CLI_STRINGS(O, conclude), .group = "Around the executions",
			.help = "Run this shell command after each execution, outside the measured time. If repeated: "
				"one for each command." },
	{ 0, "cleanup", "COMMAND", CLI_STRINGS(O, cleanup), .group = "Around the executions",
			.help = "Run this shell command once after all executions. If repeated: one for each "
				"command." },
	{ 0, "warmup", "N", CLI_INT(O, warmup), .min = 0, .max = 4096, .default_text = "1",
			.group = "Around the executions",
			.help = "Executions of each command before those that count; at least one." },
	{ 0, "input", "FILE", CLI_PATH(O, input), .default_text = "null", .group = "Around the executions",
			.help = "Standard input of each execution; null is empty." },
	PLACE_ROWS(O, place, "Limits and isolation"),
	{ 0, "json", "[=FILE]", CLI_SETTER(set_format), .offset = offsetof(O, json), .group = "Output",
			.help = "Print one JSON object, or write it to a file. Several formats are possible at once; "
				"one of them can have standard output." },
	{ 0, "csv", "[=FILE]", CLI_SETTER(set_format), .offset = offsetof(O, csv), .group = "Output",
			.help = "Print or write CSV." },
	{ 0, "markdown", "[=FILE]", CLI_SETTER(set_format), .offset = offsetof(O, markdown), .group = "Output",
			.help = "Print or write Markdown for a pull request." },
	{ 0, "export-json", "FILE", CLI_PATH(O, exports[DUET_EXPORT_JSON]), .group = "Output",
			.help = "Write the times of each command as hyperfine does, in seconds." },
	{ 0, "export-csv", "FILE", CLI_PATH(O, exports[DUET_EXPORT_CSV]), .group = "Output",
			.help = "Write a summary of the times of each command as hyperfine does." },
	{ 0, "export-markdown", "FILE", CLI_PATH(O, exports[DUET_EXPORT_MARKDOWN]), .group = "Output",
			.help = "Write a table of the times of each command as hyperfine does." },
	{ 0, "samples", NULL, CLI_FLAG(O, has_samples), .group = "Output",
			.help = "With --json: include every iteration and pair." },
	{ 0, "history", "FILE", CLI_PATH(O, history), .group = "Output",
			.help = "Add the result to this SQLite file." },
	{ 0, "label", "TEXT", CLI_STRING(O, label), .group = "Output",
			.help = "Label of the result in the history, such as a revision." },
	{ 0, "html", "FILE", CLI_PATH(O, html), .group = "Output", .help = "Also write a standalone HTML file." },
	{ 'o', "outdir", "PATH", CLI_PATH(O, outdir), .group = "Suites and results",
			.default_words = "results.DATE-TIME, standard output",
			.help = "New directory for the results of suites or the journal of a comparison; the output "
				"file of process and overlaps." },
	{ 0, "output", "FILE", CLI_PATH(O, outdir), .group = "Suites and results", .help = "Same as --outdir." },
	{ 'f', "force", NULL, CLI_FLAG(O, is_forced), .group = "Suites and results",
			.help = "Write into an existing directory." },
	{ 0, "resume", NULL, CLI_FLAG(O, is_resumed), .group = "Suites and results",
			.help = "Resume in an existing directory; completed runs are kept." },
	{ 'd', "docker", "COMMAND", CLI_STRING(O, docker), .group = "Suites and results",
			.default_words = "the suite's docker_command", .help = "Container engine: podman or docker." },
	{ 0, "filter", "NAME", CLI_STRINGS(O, filter), .group = "Suites and results",
			.help = "Run only this duet of the suite (repeatable)." },
	{ 'v', "verbose", NULL, CLI_FLAG(O, is_verbose), .group = "Suites and results",
			.help = "Print progress messages and the output of commands." },
	{ 'c', "config", "FILE", CLI_PATH(O, config), .group = "Suites and results",
			.help = "Configuration file of the suite, if the names of the results do not determine their "
				"format." },
	{ 0, "regex", "PATTERN", CLI_STRING(O, regex), .group = "Suites and results",
			.help = "Extract times from any text: one group is a duration, two groups are start and end." },
	{ 0, "unit", "TIME", CLI_DURATION(O, unit_ns), .min = 1, .max = 3600000000000, .default_text = "1s",
			.group = "Suites and results", .help = "Unit of the numbers that --regex matches." },
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
	cli_usage(ctx, "unknown action '%s' (and no such file)", word);
	err_hint(ctx->err, "did you mean '%s'?", nearest);
	return true;
}

/* One argument is a configuration file; of several, one that is called like one or is no program. */
static bool has_suite(const struct cli_context *ctx)
{
	for (size_t i = 0; i < ctx->arg_count; i++) {
		const char *dot = strrchr(ctx->args[i], '.');

		if (dot && (!strcmp(dot, ".yml") || !strcmp(dot, ".yaml")))
			return true;
		if (!access(ctx->args[i], F_OK) && access(ctx->args[i], X_OK))
			return true;
	}
	return ctx->arg_count == 1;
}

static int run(struct cli_context *ctx)
{
	const struct duet_options *o = ctx->options;

	if ((o->json && !*o->json) + (o->csv && !*o->csv) + (o->markdown && !*o->markdown) > 1) {
		cli_usage(ctx, "only one of --json, --csv and --markdown can have standard output");
		err_hint(ctx->err, "write the others to files: --json=FILE");
		return -EINVAL;
	}
	if (!ctx->arg_count)
		return duet_run_compare(ctx);
	if (o->commands[DUET_A] || o->commands[DUET_B])
		return cli_usage(ctx, "'%s' cannot be combined with -a and -b", ctx->args[0]);
	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++)
		if (!strcmp(actions[i].word, ctx->args[0]))
			return actions[i].run(ctx);
	if (is_typo(ctx, ctx->args[0]))
		return -EINVAL;
	return has_suite(ctx) ? duet_run_suites(ctx) : duet_run_compare(ctx);
}

static const struct cli_example examples[] = {
	{ "sonde duet -a './old input' -b './new input'", "Exit with 3 if the new program is more than 1 % slower." },
	{ "sonde duet './v1 data' './v2 data' './v3 data'", "Rank three commands." },
	{ "sonde duet -a ./old -b ./new --metric cpu --threshold 0.5% --budget 1m --json",
			"Detect smaller changes, with JSON output." },
	{ "sonde duet --git main..HEAD -- make bench", "Compare two revisions, each built in its own worktree." },
	{ "sonde duet --docker podman -o results suite.yml", "Run a suite of duetbench in containers." },
	{ "sonde duet report old.json new.json", "Compare two result files, for example of hyperfine." },
	{ "sonde duet report results --html results.html", "Report the results of a suite." },
	{ "sonde duet runs old-1 old-2 -- new-1 new-2", "Compare recorded runs: steps, or whole programs." },
	{ "sonde duet process results -o results.csv", "Write the iterations as a table." },
	{ NULL, NULL },
};

static const struct cli_exit_code exit_codes[] = {
	{ "0", "B is faster or equivalent, or the result is inconclusive." },
	{ "1", "Failure: a command failed or timed out, or output could not be written." },
	{ "2", "Usage error." },
	{ "3", "B is slower than A by more than the threshold." },
	{ "4", "Carry-over was found; with --fail-on inconclusive also: the result is inconclusive." },
	{ "128+N", "Interrupted by signal N; the results so far are printed." },
	{ NULL, NULL },
};

const struct cli_command cmd_duet = {
	.name = "duet",
	.positional = { .name = "COMMAND|SUITE|ACTION",
			.min = 0,
			.max = SIZE_MAX,
			.type = CLI_TYPE_PATH,
			.help = "Two commands to compare, or more for a ranking; configuration files of suites to run; "
				"or an action: process, overlaps or report with "
				"result directories; runs A... -- B... with recorded runs; history FILE; images build "
				"DIR... or images move HOST IMAGE...; preset SUITE." },
	.usage = "COMMAND COMMAND... [--metric METRIC] [--threshold PERCENT] [--budget TIME] [--design DESIGN]",
	.options = option_rows,
	.options_size = sizeof(struct duet_options),
	.examples = examples,
	.exit_codes = exit_codes,
	.flags = CLI_TAKES_PROGRAM,
	.run = run,
};
