/*
 * help: usage, arguments, options by group, examples and exit codes of a command.
 */
#include "cli/help.h"

#include "base/cleanup.h"
#include "cli/registry.h"

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

static void examples_part(struct writer *w, const struct cli_example *example)
{
	if (!example)
		return;
	heading(w, "Examples");
	for (; example->command; example++) {
		buf_addf(w->out, "  %s\n      ", example->command);
		term_wrap(w->out, example->what, 6, 6, w->term->width);
		buf_addc(w->out, '\n');
	}
}

static void exit_codes_part(struct writer *w, const struct cli_exit_code *row)
{
	heading(w, "Exit codes");
	for (; row->code; row++) {
		CLEANUP(buf_release) struct buf left = BUF_INIT;

		buf_addf(&left, "  %s", row->code);
		line(w, left.data, row->what);
	}
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
	examples_part(&w, command->examples);
	w.indent = 12;
	exit_codes_part(&w, help_exit_codes(command));
}
