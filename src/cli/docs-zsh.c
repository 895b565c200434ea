/*
 * The tables of the zsh completion: one function per command, with specifications for zsh's _arguments.
 */
#include "base/cleanup.h"
#include "cli/docs.h"
#include "cli/help.h"
#include "cli/registry.h"

#include <string.h>

/* Inside '...': a quote ends and reopens it; in specifications ':' and brackets need a backslash. */
static void add_quoted(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			buf_adds(out, "'\\'");
		else if (strchr(":[]\\", *text))
			buf_addc(out, '\\');
		buf_addc(out, *text);
	}
}

static void add_words(struct buf *out, const char *const *choices)
{
	buf_addc(out, '(');
	for (size_t i = 0; choices[i]; i++)
		buf_addf(out, "%s%s", i ? " " : "", choices[i]);
	buf_addc(out, ')');
}

/* The action that completes values of this type. */
static void add_action(struct buf *out, enum cli_type type, const char *const *choices)
{
	if (type == CLI_TYPE_WORDS && choices) {
		buf_adds(out, "_values -s , word");
		for (size_t i = 0; choices[i]; i++)
			buf_addf(out, " %s", choices[i]);
	} else if (choices) {
		add_words(out, choices);
	} else if (type == CLI_TYPE_PATH || type == CLI_TYPE_PATHS) {
		buf_adds(out, "_files");
	} else if (type == CLI_TYPE_RUN) {
		buf_adds(out, "_sonde_runs");
	} else {
		buf_addc(out, ' ');
	}
}

static void add_value(struct buf *out, const struct cli_option *option)
{
	if (option->type == CLI_TYPE_FLAG)
		return;
	buf_addc(out, ':');
	add_quoted(out, option->metavar ? option->metavar : option->long_name);
	buf_addc(out, ':');
	add_action(out, option->type, option->choices);
}

static bool is_repeatable(const struct cli_option *option)
{
	return option->type == CLI_TYPE_STRINGS || option->type == CLI_TYPE_WORDS || option->type == CLI_TYPE_PATHS;
}

static void add_spec(struct buf *out, const struct cli_option *option, const char *name, const char *join)
{
	buf_addf(out, " \\\n\t\t'%s%s%s[", is_repeatable(option) ? "*" : "", name, join);
	add_quoted(out, option->help);
	buf_addc(out, ']');
	add_value(out, option);
	buf_addc(out, '\'');
}

static void write_option(struct buf *out, const struct cli_command *command, const struct cli_option *option)
{
	CLEANUP(buf_release) struct buf name = BUF_INIT;

	if (option->short_name) {
		buf_addf(&name, "-%c", option->short_name);
		add_spec(out, option, name.data, option->type == CLI_TYPE_FLAG ? "" : "+");
		buf_reset(&name);
	}
	buf_addf(&name, "--%s", option->long_name);
	add_spec(out, option, name.data, option->type == CLI_TYPE_FLAG ? "" : "=");
}

static void add_rest(struct buf *out, const struct cli_command *command)
{
	const struct cli_positional *positional = &command->positional;

	if (positional->name) {
		buf_addf(out, " \\\n\t\t'*:%s:", positional->name);
		add_action(out, positional->type, positional->choices);
		buf_addc(out, '\'');
	} else if (command->flags & CLI_TAKES_PROGRAM) {
		buf_adds(out, " \\\n\t\t'(-)*::program:_normal'");
	}
}

static void write_functions(struct buf *out, const struct docs *docs)
{
	for (size_t i = 0; docs->commands[i]; i++) {
		buf_addf(out, "_sonde_%s()\n{\n\t_arguments -s -S", docs->commands[i]->name);
		docs_each_option(out, docs->commands[i], write_option);
		add_rest(out, docs->commands[i]);
		buf_adds(out, "\n}\n\n");
	}
}

static void write_commands(struct buf *out, const struct docs *docs)
{
	for (const struct cli_entry *entry = cli_entries; entry->name; entry++) {
		buf_addf(out, "\t\t'%s:", entry->name);
		add_quoted(out, entry->summary);
		buf_adds(out, "'\n");
	}
}

const struct docs_marker docs_zsh_markers[] = {
	{ "ZSH_FUNCTIONS", write_functions },
	{ "ZSH_COMMANDS", write_commands },
	{ NULL },
};
