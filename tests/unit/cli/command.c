#include "command.h"

#include <errno.h>
#include <string.h>

static const char *const tables[] = { "io", "span", "step", NULL };
static const char *const probes[] = { "trace", "perf", "proc", NULL };
static const char *const shells[] = { "bash", "zsh", NULL };

static int set_custom(const struct cli_option *option, const char *value, void *options, struct sonde_err *err)
{
	if (strlen(value) != 1)
		return err_set(err, EINVAL, "'%s' is not one character", value);
	((struct sample_options *)options)->custom = *value;
	return 0;
}

#define S struct sample_options
static const struct cli_option options[] = {
	{ 'j', "json", NULL, CLI_FLAG(S, is_json), .help = "Print JSON." },
	{ 'q', "quiet", NULL, CLI_FLAG(S, is_quiet), .help = "Say nothing." },
	{ 0, "name", "NAME", CLI_STRING(S, name), .help = "Call it so." },
	{ 'o', "output", "DIR", CLI_PATH(S, output), .help = "Put it there.",
			.default_words = "the current directory" },
	{ 0, "base", "RUN", CLI_RUN(S, base), .help = "Compare with this." },
	{ 'n', "limit", "N", CLI_INT(S, limit), .help = "At most so many.", .min = -1, .max = 100, .default_text = "10",
			.group = "Limits" },
	{ 0, "size", "SIZE", CLI_SIZE(S, size), .help = "So large.", .min = 4096, .max = 1 << 30, .default_text = "4M",
			.group = "Limits" },
	{ 'w', "wait", "TIME", CLI_DURATION(S, wait_ns), .help = "So long.", .min = 0, .max = INT64_MAX,
			.group = "Limits" },
	{ 't', "table", "TABLE", CLI_CHOICE(S, table), .help = "This table.", .choices = tables, .default_text = "span",
			.group = "Selection" },
	{ 'f', "filter", "TEXT", CLI_STRINGS(S, filters), .help = "Only with this text.", .group = "Selection" },
	{ 0, "probes", "LIST", CLI_WORDS(S, probes), .help = "With these.", .choices = probes,
			.default_text = "trace,proc", .group = "Selection" },
	{ 0, "paths", "PATHS", CLI_PATHS(S, paths), .help = "Below these.", .group = "Selection" },
	{ 'c', "custom", "C", CLI_SETTER(set_custom), .help = "One character.", .group = "Selection" },
	CLI_OPTIONS_END,
};

static const struct cli_example examples[] = {
	{ "sonde sample latest", "An example." },
	{ NULL },
};

static const struct cli_exit_code exit_codes[] = {
	{ "125", "It broke." },
	{ NULL },
};

static int run(struct cli_context *ctx)
{
	return 0;
}

const struct cli_command sample_command = {
	.name = "sample",
	.usage = "[RUN...]",
	.positional = { "RUN", 0, 2, CLI_TYPE_RUN, .help = "The runs." },
	.options = options,
	.options_size = sizeof(struct sample_options),
	.examples = examples,
	.run = run,
};

const struct cli_command sample_program_command = {
	.name = "sample-run",
	.usage = "-- PROGRAM",
	.options = options,
	.options_size = sizeof(struct sample_options),
	.exit_codes = exit_codes,
	.flags = CLI_TAKES_PROGRAM | CLI_NEEDS_PROGRAM,
	.run = run,
};

const struct cli_command sample_bare_command = { .name = "bare", .usage = "", .run = run };

const struct cli_command sample_both_command = {
	.name = "both",
	.usage = "RUN [-- PROGRAM]",
	.positional = { "RUN", 1, 1, CLI_TYPE_RUN, .help = "The run." },
	.flags = CLI_TAKES_PROGRAM,
	.run = run,
};

const struct cli_command sample_shell_command = {
	.name = "shell",
	.usage = "SHELL",
	.positional = { "SHELL", 1, 1, CLI_TYPE_CHOICE, shells, "The shell." },
	.run = run,
};
