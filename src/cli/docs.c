/*
 * cli-docs TEMPLATE [COMMAND]: man pages and completion scripts from the option tables.
 *
 * A template is text with marker lines (`@OPTIONS@`); the function of each marker writes the lines that replace it.
 * Only used at build time; not installed.
 */
#define CLI_COMMANDS "cli/commands.inc"
#include "cli/commands.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/help.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define TEMPLATE_BYTES_MAX ((size_t)1 << 20)

struct docs {
	const struct cli_command *const *commands; /* all, NULL-terminated */
	const struct cli_command *command;         /* of the page; NULL for sonde itself */
};

struct docs_marker {
	const char *name;
	void (*write)(struct buf *out, const struct docs *docs);
};

/* Calls the function for each option of a command, including --help. */
static void docs_each_option(struct buf *out, const struct cli_command *command,
		void (*each)(struct buf *, const struct cli_command *, const struct cli_option *))
{
	for (const struct cli_option *option = command->options; option && option->long_name; option++)
		each(out, command, option);
	each(out, command, &help_option);
}

/* Man pages: the parts that are generated from the tables, in scdoc format. */

/* Appends text with scdoc markup escaped. */
static void man_add_text(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (strchr("\\*_#[]<>~`", *text))
			buf_addc(out, '\\');
		buf_addc(out, *text);
	}
}

static void man_write_title(struct buf *out, const struct docs *docs)
{
	const char *name = docs->command->name;

	buf_addf(out, "sonde-%s(1)\n\n# NAME\n\nsonde-%s - ", name, name);
	man_add_text(out, cli_entry_find(name)->summary);
	buf_addc(out, '\n');
}

static void man_write_synopsis(struct buf *out, const struct docs *docs)
{
	buf_addf(out, "*sonde %s* ", docs->command->name);
	man_add_text(out, docs->command->usage);
	buf_addc(out, '\n');
}

static void man_add_item(struct buf *out, const char *text)
{
	buf_adds(out, "\n\t");
	man_add_text(out, text);
	buf_adds(out, "\n\n");
}

static void man_write_option(struct buf *out, const struct cli_command *command, const struct cli_option *option)
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
	man_add_item(out, text.data);
}

static void man_write_options(struct buf *out, const struct docs *docs)
{
	const char *group = help_option_group(&help_option);

	for (const struct cli_option *option = docs->command->options; option && option->long_name; option++) {
		if (strcmp(group, help_option_group(option)) != 0)
			buf_addf(out, "## %s\n\n", help_option_group(option));
		group = help_option_group(option);
		man_write_option(out, docs->command, option);
	}
	man_write_option(out, docs->command, &help_option);
}

static void man_write_arguments(struct buf *out, const struct docs *docs)
{
	const struct cli_positional *positional = &docs->command->positional;

	if (!positional->name)
		return;
	buf_addf(out, "_%s_", positional->name);
	man_add_item(out, positional->help);
}

static void man_write_examples(struct buf *out, const struct docs *docs)
{
	for (const struct cli_example *e = docs->command->examples; e && e->command; e++) {
		man_add_text(out, e->what);
		buf_adds(out, "\n\n```\n");
		buf_adds(out, e->command);
		buf_adds(out, "\n```\n\n");
	}
}

static void man_write_exit_status(struct buf *out, const struct docs *docs)
{
	for (const struct cli_exit_code *row = help_exit_codes(docs->command); row->code; row++) {
		buf_addf(out, "*%s*", row->code);
		man_add_item(out, row->what);
	}
}

static void man_write_commands(struct buf *out, const struct docs *docs)
{
	for (int group = 0; group < CLI_GROUPS; group++) {
		buf_addf(out, "## %s\n\n", cli_group_titles[group]);
		for (const struct cli_entry *entry = cli_entries; entry->name; entry++) {
			if ((int)entry->group != group)
				continue;
			buf_addf(out, "*sonde %s*", entry->name);
			man_add_item(out, entry->summary);
		}
	}
}

static const struct docs_marker docs_man_markers[] = {
	{ "TITLE", man_write_title },
	{ "SYNOPSIS", man_write_synopsis },
	{ "ARGUMENTS", man_write_arguments },
	{ "OPTIONS", man_write_options },
	{ "EXAMPLES", man_write_examples },
	{ "EXIT_STATUS", man_write_exit_status },
	{ "COMMANDS", man_write_commands },
	{ NULL },
};

/* The tables of the bash completion: case branches in the functions of completion/sonde.bash.in. */

/* Kind of completion for a value of this type, as understood by _sonde_offer of the template. */
static const char *const bash_kinds[] = {
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

static void bash_add_kind(struct buf *out, enum cli_type type, const char *const *choices)
{
	buf_addf(out, "kind=%s", bash_kinds[type]);
	for (size_t i = 0; choices && choices[i]; i++)
		buf_addf(out, "%s%s", i ? " " : " words='", choices[i]);
	buf_adds(out, choices ? "' ;;\n" : " ;;\n");
}

static void bash_write_command_words(struct buf *out, const struct docs *docs)
{
	buf_adds(out, "_sonde_commands='");
	for (const struct cli_entry *entry = cli_entries; entry->name; entry++)
		buf_addf(out, "%s%s", entry == cli_entries ? "" : " ", entry->name);
	buf_adds(out, "'\n");
}

static void bash_write_option_word(struct buf *out, const struct cli_command *command, const struct cli_option *option)
{
	buf_addf(out, " --%s", option->long_name);
	if (option->short_name)
		buf_addf(out, " -%c", option->short_name);
}

static void bash_write_options(struct buf *out, const struct docs *docs)
{
	for (size_t i = 0; docs->commands[i]; i++) {
		buf_addf(out, "\t%s) words='", docs->commands[i]->name);
		docs_each_option(out, docs->commands[i], bash_write_option_word);
		buf_adds(out, "' ;;\n");
	}
}

static void bash_write_value(struct buf *out, const struct cli_command *command, const struct cli_option *option)
{
	if (option->type == CLI_TYPE_FLAG)
		return;
	buf_addf(out, "\t'%s --%s'", command->name, option->long_name);
	if (option->short_name)
		buf_addf(out, " | '%s -%c'", command->name, option->short_name);
	buf_adds(out, ") ");
	bash_add_kind(out, option->type, option->choices);
}

static void bash_write_values(struct buf *out, const struct docs *docs)
{
	for (size_t i = 0; docs->commands[i]; i++)
		docs_each_option(out, docs->commands[i], bash_write_value);
}

static void bash_write_arguments(struct buf *out, const struct docs *docs)
{
	for (size_t i = 0; docs->commands[i]; i++) {
		const struct cli_command *command = docs->commands[i];

		if (command->positional.name && command->positional.type != CLI_TYPE_STRING) {
			buf_addf(out, "\t%s) ", command->name);
			bash_add_kind(out, command->positional.type, command->positional.choices);
		} else if (!command->positional.name && command->flags & CLI_TAKES_PROGRAM) {
			buf_addf(out, "\t%s) kind=program ;;\n", command->name);
		}
	}
}

static const struct docs_marker docs_bash_markers[] = {
	{ "BASH_COMMANDS", bash_write_command_words },
	{ "BASH_OPTIONS", bash_write_options },
	{ "BASH_VALUES", bash_write_values },
	{ "BASH_ARGUMENTS", bash_write_arguments },
	{ NULL },
};

/* The tables of the zsh completion: one function per command, with specifications for _arguments. */

/* Inside '...': a quote ends and reopens it; in specifications ':' and brackets need a backslash. */
static void zsh_add_quoted(struct buf *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			buf_adds(out, "'\\'");
		else if (strchr(":[]\\", *text))
			buf_addc(out, '\\');
		buf_addc(out, *text);
	}
}

/* The action that completes values of this type. */
static void zsh_add_action(struct buf *out, enum cli_type type, const char *const *choices)
{
	if (type == CLI_TYPE_WORDS && choices) {
		buf_adds(out, "_values -s , word");
		for (size_t i = 0; choices[i]; i++)
			buf_addf(out, " %s", choices[i]);
	} else if (choices) {
		for (size_t i = 0; choices[i]; i++)
			buf_addf(out, "%s%s", i ? " " : "(", choices[i]);
		buf_addc(out, ')');
	} else if (type == CLI_TYPE_PATH || type == CLI_TYPE_PATHS) {
		buf_adds(out, "_files");
	} else if (type == CLI_TYPE_RUN) {
		buf_adds(out, "_sonde_runs");
	} else {
		buf_addc(out, ' ');
	}
}

static void zsh_add_spec(struct buf *out, const struct cli_option *option, const char *name, const char *join)
{
	bool is_repeatable = option->type == CLI_TYPE_STRINGS || option->type == CLI_TYPE_WORDS ||
			option->type == CLI_TYPE_PATHS;

	buf_addf(out, " \\\n\t\t'%s%s%s[", is_repeatable ? "*" : "", name, join);
	zsh_add_quoted(out, option->help);
	buf_addc(out, ']');
	if (option->type != CLI_TYPE_FLAG) {
		buf_addc(out, ':');
		zsh_add_quoted(out, option->metavar ? option->metavar : option->long_name);
		buf_addc(out, ':');
		zsh_add_action(out, option->type, option->choices);
	}
	buf_addc(out, '\'');
}

static void zsh_write_option(struct buf *out, const struct cli_command *command, const struct cli_option *option)
{
	CLEANUP(buf_release) struct buf name = BUF_INIT;

	if (option->short_name) {
		buf_addf(&name, "-%c", option->short_name);
		zsh_add_spec(out, option, name.data, option->type == CLI_TYPE_FLAG ? "" : "+");
		buf_reset(&name);
	}
	buf_addf(&name, "--%s", option->long_name);
	zsh_add_spec(out, option, name.data, option->type == CLI_TYPE_FLAG ? "" : "=");
}

static void zsh_write_functions(struct buf *out, const struct docs *docs)
{
	for (size_t i = 0; docs->commands[i]; i++) {
		const struct cli_command *command = docs->commands[i];
		const struct cli_positional *positional = &command->positional;

		buf_addf(out, "_sonde_%s()\n{\n\t_arguments -s -S", command->name);
		docs_each_option(out, command, zsh_write_option);
		if (positional->name) {
			buf_addf(out, " \\\n\t\t'*:%s:", positional->name);
			zsh_add_action(out, positional->type, positional->choices);
			buf_addc(out, '\'');
		} else if (command->flags & CLI_TAKES_PROGRAM) {
			buf_adds(out, " \\\n\t\t'(-)*::program:_normal'");
		}
		buf_adds(out, "\n}\n\n");
	}
}

static void zsh_write_commands(struct buf *out, const struct docs *docs)
{
	for (const struct cli_entry *entry = cli_entries; entry->name; entry++) {
		buf_addf(out, "\t\t'%s:", entry->name);
		zsh_add_quoted(out, entry->summary);
		buf_adds(out, "'\n");
	}
}

static const struct docs_marker docs_zsh_markers[] = {
	{ "ZSH_FUNCTIONS", zsh_write_functions },
	{ "ZSH_COMMANDS", zsh_write_commands },
	{ NULL },
};

/* Templates. */

static const struct docs_marker *const marker_tables[] = { docs_man_markers, docs_bash_markers, docs_zsh_markers };

static const struct docs_marker *find_marker(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(marker_tables) / sizeof(*marker_tables); i++)
		for (const struct docs_marker *m = marker_tables[i]; m->name; m++)
			if (strlen(m->name) == len && memcmp(m->name, name, len) == 0)
				return m;
	return NULL;
}

static int fill(struct buf *out, const char *template, const struct docs *docs, struct sonde_err *err)
{
	int rc = 0;

	while (*template && !rc) {
		size_t len = strcspn(template, "\n");
		bool is_marker = len >= 3 && template[0] == '@' && template[len - 1] == '@';
		const struct docs_marker *marker = is_marker ? find_marker(template + 1, len - 2) : NULL;

		if (marker)
			marker->write(out, docs);
		else if (is_marker)
			rc = err_set(err, EINVAL, "unknown marker '%.*s'", (int)len, template);
		else
			buf_addf(out, "%.*s\n", (int)len, template);
		template += len + (template[len] == '\n');
	}
	return rc ? rc : buf_error(out);
}

int main(int argc, char **argv)
{
	CLEANUP(buf_release) struct buf template = BUF_INIT;
	CLEANUP(buf_release) struct buf out = BUF_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	struct docs docs = { .commands = commands };
	int rc;

	for (size_t i = 0; argc > 2 && commands[i]; i++)
		if (strcmp(commands[i]->name, argv[2]) == 0)
			docs.command = commands[i];
	if (argc < 2 || (argc > 2 && !docs.command)) {
		fputs("usage: cli-docs TEMPLATE [COMMAND]\n", stderr);
		return CLI_EXIT_USAGE;
	}
	rc = fs_read_file(AT_FDCWD, argv[1], TEMPLATE_BYTES_MAX, &template, &err);
	if (!rc)
		rc = fill(&out, template.data, &docs, &err);
	if (!rc)
		rc = fwrite(out.data, 1, out.len, stdout) == out.len && fflush(stdout) == 0
				? 0
				: err_set(&err, EIO, "cannot write");
	if (rc)
		cli_print_error(argv[1], &err);
	return rc ? CLI_EXIT_FAILED : CLI_EXIT_FINE;
}
