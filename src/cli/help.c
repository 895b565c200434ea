/*
 * help: the list of commands, and usage, arguments, options by group, examples and exit codes of each.
 */
#include "cli/help.h"

#include "base/cleanup.h"
#include "base/shell-words.h"

#include <stdbool.h>
#include <string.h>

#define LEFT_MAX 30 /* longer options have their description on the next line */

const struct cli_option help_option = {
	.short_name = 'h',
	.long_name = "help",
	.type = CLI_TYPE_FLAG,
	.help = "Print this help.",
};

static const struct cli_exit_code usual_exit_codes[] = {
	{ "0", "Success." },
	{ "1", "Failure; the reason is on standard error." },
	{ "2", "Usage error." },
	{ NULL },
};

const struct cli_exit_code *help_exit_codes(const struct cli_command *command)
{
	return command->exit_codes ? command->exit_codes : usual_exit_codes;
}

const char *help_option_group(const struct cli_option *option)
{
	return option->group ? option->group : "Options";
}

static void add_choices(struct buf *out, const char *const *choices, const char *separator)
{
	for (size_t i = 0; choices[i]; i++)
		buf_addf(out, "%s%s", i ? separator : "", choices[i]);
}

void help_option_value(struct buf *out, const struct cli_option *option)
{
	if (option->metavar)
		buf_adds(out, option->metavar);
	else if (option->type == CLI_TYPE_CHOICE)
		add_choices(out, option->choices, "|");
}

void help_option_text(struct buf *out, const struct cli_option *option)
{
	const char *preset = option->default_words ? option->default_words : option->default_text;

	buf_adds(out, option->help);
	if (option->choices && option->metavar) {
		buf_adds(out, option->type == CLI_TYPE_CHOICE ? " One of: " : " Any of: ");
		add_choices(out, option->choices, ", ");
		buf_addc(out, '.');
	}
	if (preset)
		buf_addf(out, " Default: %s.", preset);
}

struct writer {
	struct buf *out;
	const struct term *term;
	size_t indent; /* column of the descriptions */
};

static void heading(struct writer *w, const char *text)
{
	buf_addc(w->out, '\n');
	term_add(w->out, w->term, TERM_BOLD, text);
	buf_addc(w->out, '\n');
}

static void option_left(struct buf *left, const struct cli_option *option)
{
	CLEANUP(buf_release) struct buf value = BUF_INIT;

	help_option_value(&value, option);
	buf_adds(left, "  ");
	if (option->short_name)
		buf_addf(left, "-%c, ", option->short_name);
	else
		buf_adds(left, "    ");
	buf_addf(left, "--%s%s%s", option->long_name, value.len ? " " : "", value.data);
}

static void line(struct writer *w, const char *left, const char *text)
{
	size_t at = term_columns(left);

	term_add(w->out, w->term, TERM_CYAN, left);
	if (at + 2 > w->indent) {
		buf_addc(w->out, '\n');
		at = 0;
	}
	buf_addf(w->out, "%*s", (int)(w->indent - at), "");
	term_wrap(w->out, text, w->indent, w->indent, w->term->width);
	buf_addc(w->out, '\n');
}

static void option_line(struct writer *w, const struct cli_option *option)
{
	CLEANUP(buf_release) struct buf left = BUF_INIT;
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	option_left(&left, option);
	help_option_text(&text, option);
	line(w, left.data, text.data);
}

static size_t left_width(const struct cli_command *command)
{
	CLEANUP(buf_release) struct buf left = BUF_INIT;
	size_t widest = strlen("  -h, --help");

	for (const struct cli_option *option = command->options; option && option->long_name; option++) {
		buf_reset(&left);
		option_left(&left, option);
		if (term_columns(left.data) <= LEFT_MAX && term_columns(left.data) > widest)
			widest = term_columns(left.data);
	}
	return widest;
}

static void options_part(struct writer *w, const struct cli_command *command)
{
	const char *group = NULL;

	for (const struct cli_option *option = command->options; option && option->long_name; option++) {
		if (!group || strcmp(group, help_option_group(option)) != 0)
			heading(w, help_option_group(option));
		group = help_option_group(option);
		option_line(w, option);
	}
	if (!group || strcmp(group, help_option_group(&help_option)) != 0)
		heading(w, group ? "Help" : help_option_group(&help_option));
	option_line(w, &help_option);
}

static void arguments_part(struct writer *w, const struct cli_positional *positional)
{
	CLEANUP(buf_release) struct buf left = BUF_INIT;
	CLEANUP(buf_release) struct buf text = BUF_INIT;

	if (!positional->name)
		return;
	heading(w, "Arguments");
	buf_addf(&left, "  %s", positional->name);
	buf_adds(&text, positional->help);
	if (positional->choices) {
		buf_adds(&text, " One of: ");
		add_choices(&text, positional->choices, ", ");
		buf_addc(&text, '.');
	}
	line(w, left.data, text.data);
}

void help_write(struct buf *out, const struct cli_command *command, const struct term *term)
{
	struct writer w = { .out = out, .term = term, .indent = left_width(command) + 2 };
	const struct cli_entry *entry = cli_entry_find(command->name);

	term_add(out, term, TERM_BOLD, "Usage:");
	buf_addf(out, " sonde %s%s%s\n", command->name, *command->usage ? " " : "", command->usage);
	if (entry)
		buf_addf(out, "\nsonde %s - %s\n", command->name, entry->summary);
	arguments_part(&w, &command->positional);
	options_part(&w, command);
	if (command->examples)
		heading(&w, "Examples");
	for (const struct cli_example *e = command->examples; e && e->command; e++) {
		buf_addf(out, "  %s\n      ", e->command);
		term_wrap(out, e->what, 6, 6, term->width);
		buf_addc(out, '\n');
	}
	heading(&w, "Exit codes");
	w.indent = 12;
	for (const struct cli_exit_code *row = help_exit_codes(command); row->code; row++) {
		CLEANUP(buf_release) struct buf left = BUF_INIT;

		buf_addf(&left, "  %s", row->code);
		line(&w, left.data, row->what);
	}
}

/* The registry. commands.def comes from the build as commands.inc;
 * rows of features that are not built are in missing.inc. */

enum {
	PROGRAM_front,
	PROGRAM_record,
	PROGRAM_look,
	PROGRAM_serve,
	PROGRAM_duet,
	PROGRAM_tune,
	PROGRAM_live,
	PROGRAM_fleet,
};

static const struct cli_program programs[] = {
	[PROGRAM_front] = { .file = NULL, .fail_code = CLI_EXIT_FAILED },
	[PROGRAM_record] = { .file = "sonde-record", .fail_code = 125 },
	[PROGRAM_look] = { .file = "sonde-look", .fail_code = CLI_EXIT_FAILED },
	[PROGRAM_serve] = { .file = "sonde-serve", .fail_code = CLI_EXIT_FAILED },
	[PROGRAM_duet] = { .file = "sonde-duet", .fail_code = CLI_EXIT_FAILED },
	[PROGRAM_tune] = { .file = "sonde-tune", .fail_code = CLI_EXIT_FAILED },
	[PROGRAM_live] = { .file = "sonde-live", .fail_code = CLI_EXIT_FAILED },
	[PROGRAM_fleet] = { .file = "sonde-fleet", .fail_code = CLI_EXIT_FAILED },
};

const struct cli_entry cli_entries[] = {
#define X(name, program, group, summary) { #name, summary, &programs[PROGRAM_##program], CLI_GROUP_##group },
#include "cli/commands.inc"
#undef X
	{ .name = NULL },
};

const char *const cli_group_titles[CLI_GROUPS] = {
	[CLI_GROUP_RECORD] = "Record",
	[CLI_GROUP_LOOK] = "Inspect runs",
	[CLI_GROUP_COMPARE] = "Compare and tune",
	[CLI_GROUP_WATCH] = "Watch",
	[CLI_GROUP_FLEET] = "Clusters",
	[CLI_GROUP_MACHINE] = "This machine and this installation",
};

static const char *const names[] = {
#define X(name, program, group, summary) #name,
#include "cli/commands.inc"
#undef X
	NULL,
};

/* Command names of other tools, mapped to ours. */
static const struct {
	const char *alias, *name;
} aliases[] = {
#define ALIAS(alias, name) { #alias, #name },
#include "cli/aliases.inc"
#undef ALIAS
	{ NULL, NULL },
};

static const struct cli_missing missing[] = {
#define MISSING(name, feature, reason, remedy) { #name, feature, reason, remedy },
#include "cli/missing.inc"
#undef MISSING
	{ .name = NULL },
};

static const char *without_alias(const char *name)
{
	for (size_t i = 0; aliases[i].alias; i++)
		if (strcmp(aliases[i].alias, name) == 0)
			return aliases[i].name;
	return name;
}

const struct cli_missing *cli_missing_find(const char *name)
{
	name = without_alias(name);
	for (const struct cli_missing *row = missing; row->name; row++)
		if (strcmp(row->name, name) == 0)
			return row;
	return NULL;
}

const struct cli_entry *cli_entry_find(const char *name)
{
	name = without_alias(name);
	for (const struct cli_entry *entry = cli_entries; entry->name; entry++)
		if (strcmp(entry->name, name) == 0)
			return entry;
	return NULL;
}

const char *cli_entry_nearest(const char *typed)
{
	return words_nearest(typed, names);
}

void cli_entry_list(struct buf *out, const struct term *term)
{
	size_t indent = 0;

	for (size_t i = 0; names[i]; i++)
		if (strlen(names[i]) + 4 > indent)
			indent = strlen(names[i]) + 4;
	for (int group = 0; group < CLI_GROUPS; group++) {
		bool has_title = false;

		for (const struct cli_entry *entry = cli_entries; entry->name; entry++) {
			if ((int)entry->group != group)
				continue;
			if (!has_title) { /* groups without commands are omitted */
				buf_adds(out, group ? "\n" : "");
				term_add(out, term, TERM_BOLD, cli_group_titles[group]);
				buf_addc(out, '\n');
				has_title = true;
			}
			buf_adds(out, "  ");
			term_add(out, term, TERM_CYAN, entry->name);
			buf_addf(out, "%*s", (int)(indent - 2 - strlen(entry->name)), "");
			term_wrap(out, entry->summary, indent, indent, term->width);
			buf_addc(out, '\n');
		}
	}
}
