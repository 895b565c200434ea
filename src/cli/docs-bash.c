/*
 * The tables of the bash completion: case branches in the functions of completion/sonde.bash.in.
 */
#include "cli/docs.h"
#include "cli/help.h"
#include "cli/registry.h"

/* Kind of completion for a value of this type, as understood by _sonde_offer of the template. */
static const char *const kinds[] = {
	[CLI_TYPE_STRING] = "nothing",
	[CLI_TYPE_PATH] = "file",
	[CLI_TYPE_RUN] = "run",
	[CLI_TYPE_INT] = "nothing",
	[CLI_TYPE_SIZE] = "nothing",
	[CLI_TYPE_DURATION] = "nothing",
	[CLI_TYPE_SECONDS] = "nothing",
	[CLI_TYPE_CHOICE] = "words",
	[CLI_TYPE_STRINGS] = "nothing",
	[CLI_TYPE_WORDS] = "list",
	[CLI_TYPE_PATHS] = "file",
	[CLI_TYPE_SETTER] = "nothing",
};

static void add_kind(struct buf *out, enum cli_type type, const char *const *choices)
{
	buf_addf(out, "kind=%s", kinds[type]);
	for (size_t i = 0; choices && choices[i]; i++)
		buf_addf(out, "%s%s", i ? " " : " words='", choices[i]);
	buf_adds(out, choices ? "' ;;\n" : " ;;\n");
}

static void write_command_words(struct buf *out, const struct docs *docs)
{
	buf_adds(out, "_sonde_commands='");
	for (const struct cli_entry *entry = cli_entries; entry->name; entry++)
		buf_addf(out, "%s%s", entry == cli_entries ? "" : " ", entry->name);
	buf_adds(out, "'\n");
}

static void write_option_word(struct buf *out, const struct cli_command *command, const struct cli_option *option)
{
	buf_addf(out, " --%s", option->long_name);
	if (option->short_name)
		buf_addf(out, " -%c", option->short_name);
}

static void write_options(struct buf *out, const struct docs *docs)
{
	for (size_t i = 0; docs->commands[i]; i++) {
		buf_addf(out, "\t%s) words='", docs->commands[i]->name);
		docs_each_option(out, docs->commands[i], write_option_word);
		buf_adds(out, "' ;;\n");
	}
}

static void write_value(struct buf *out, const struct cli_command *command, const struct cli_option *option)
{
	if (option->type == CLI_TYPE_FLAG)
		return;
	buf_addf(out, "\t'%s --%s'", command->name, option->long_name);
	if (option->short_name)
		buf_addf(out, " | '%s -%c'", command->name, option->short_name);
	buf_adds(out, ") ");
	add_kind(out, option->type, option->choices);
}

static void write_values(struct buf *out, const struct docs *docs)
{
	for (size_t i = 0; docs->commands[i]; i++)
		docs_each_option(out, docs->commands[i], write_value);
}

static void write_arguments(struct buf *out, const struct docs *docs)
{
	for (size_t i = 0; docs->commands[i]; i++) {
		const struct cli_command *command = docs->commands[i];

		if (command->positional.name && command->positional.type != CLI_TYPE_STRING) {
			buf_addf(out, "\t%s) ", command->name);
			add_kind(out, command->positional.type, command->positional.choices);
		} else if (!command->positional.name && command->flags & CLI_TAKES_PROGRAM) {
			buf_addf(out, "\t%s) kind=program ;;\n", command->name);
		}
	}
}

const struct docs_marker docs_bash_markers[] = {
	{ "BASH_COMMANDS", write_command_words },
	{ "BASH_OPTIONS", write_options },
	{ "BASH_VALUES", write_values },
	{ "BASH_ARGUMENTS", write_arguments },
	{ NULL },
};
