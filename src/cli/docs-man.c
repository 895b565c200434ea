/*
 * The parts of a man page that are generated from the tables, in scdoc format.
 */
#include "base/cleanup.h"
#include "cli/docs.h"
#include "cli/help.h"
#include "cli/registry.h"

#include <string.h>

/* Appends text with scdoc markup escaped. */
static void add_text(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\*_#[]<>~`", *text))
			buf_addc(out, '\\');
		buf_addc(out, *text);
	}
}

static void write_title(struct buf *out, const struct docs *docs)
{
	const char *name = docs->command->name;

	buf_addf(out, "sonde-%s(1)\n\n# NAME\n\nsonde-%s - ", name, name);
	add_text(out, cli_entry_find(name)->summary);
	buf_addc(out, '\n');
}

static void write_synopsis(struct buf *out, const struct docs *docs)
{
	buf_addf(out, "*sonde %s* ", docs->command->name);
	add_text(out, docs->command->usage);
	buf_addc(out, '\n');
}

static void add_item(struct buf *out, const char *text)
{
	buf_adds(out, "\n\t");
	add_text(out, text);
	buf_adds(out, "\n\n");
}

static void write_option(struct buf *out, const struct cli_command *command, const struct cli_option *option)
{
	CLEANUP(buf_release) struct buf value = BUF_INIT;
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (option->short_name)
		buf_addf(out, "*-%c*, ", option->short_name);
	buf_addf(out, "*--%s*", option->long_name);
	help_option_value(&value, option);
	if (value.len)
		buf_addf(out, " _%s_", value.data);
	help_option_text(&text, option);
	add_item(out, text.data);
}

static void write_options(struct buf *out, const struct docs *docs)
{
	const char *group = help_option_group(&help_option);

	for (const struct cli_option *option = docs->command->options; option && option->long_name; option++) {
		if (strcmp(group, help_option_group(option)) != 0)
			buf_addf(out, "## %s\n\n", help_option_group(option));
		group = help_option_group(option);
		write_option(out, docs->command, option);
	}
	write_option(out, docs->command, &help_option);
}

static void write_arguments(struct buf *out, const struct docs *docs)
{
	const struct cli_positional *positional = &docs->command->positional;

	if (!positional->name)
		return;
	buf_addf(out, "_%s_", positional->name);
	add_item(out, positional->help);
}

static void write_examples(struct buf *out, const struct docs *docs)
{
	for (const struct cli_example *e = docs->command->examples; e && e->command; e++) {
		add_text(out, e->what);
		buf_adds(out, "\n\n```\n");
		buf_adds(out, e->command);
		buf_adds(out, "\n```\n\n");
	}
}

static void write_exit_status(struct buf *out, const struct docs *docs)
{
	for (const struct cli_exit_code *row = help_exit_codes(docs->command); row->code; row++) {
		buf_addf(out, "*%s*", row->code);
		add_item(out, row->what);
	}
}

static void write_commands(struct buf *out, const struct docs *docs)
{
	for (int group = 0; group < CLI_GROUPS; group++) {
		buf_addf(out, "## %s\n\n", cli_group_titles[group]);
		for (const struct cli_entry *entry = cli_entries; entry->name; entry++) {
			if ((int)entry->group != group)
				continue;
			buf_addf(out, "*sonde %s*", entry->name);
			add_item(out, entry->summary);
		}
	}
}

const struct docs_marker docs_man_markers[] = {
	{ "TITLE", write_title },
	{ "SYNOPSIS", write_synopsis },
	{ "ARGUMENTS", write_arguments },
	{ "OPTIONS", write_options },
	{ "EXAMPLES", write_examples },
	{ "EXIT_STATUS", write_exit_status },
	{ "COMMANDS", write_commands },
	{ NULL },
};
