/*
 * help: a command's table as help text, and the list of all commands.
 *
 * The generators of man pages and completions use help_option_* too, so that all have the same text.
 */
#ifndef SONDE_CLI_HELP_H
#define SONDE_CLI_HELP_H

#include "base/buf.h"
#include "cli/cli.h"
#include "result/term.h"

/* The --help row of every command. */
extern const struct cli_option help_option;

void help_write(struct buf *out, const struct cli_command *command, const struct term *term);

/* Appends "DIR", or for a choice "io|span|step"; "" for a flag. */
void help_option_value(struct buf *out, const struct cli_option *option);
/* Appends the description, the allowed words and the default: "Print this table. One of: io, span. Default: io." */
void help_option_text(struct buf *out, const struct cli_option *option);
const char *help_option_group(const struct cli_option *option);

/* The command's own list, or the default one. */
const struct cli_exit_code *help_exit_codes(const struct cli_command *command);

/*
 * The registry: the rows of commands.def that are built, as data. It has every command's name, program and summary, but
 * no code, so the front program can list all commands without linking them.
 */
enum cli_group {
	CLI_GROUP_RECORD,
	CLI_GROUP_LOOK,
	CLI_GROUP_COMPARE,
	CLI_GROUP_WATCH,
	CLI_GROUP_FLEET,
	CLI_GROUP_MACHINE,
	CLI_GROUPS,
};

struct cli_program {
	const char *file; /* under libexec/sonde; NULL: the front program itself */
	int fail_code;    /* exit code if it cannot be started */
};

/* A command of a feature that is not built, with the reason. */
struct cli_missing {
	const char *name;
	const char *feature;
	const char *reason;
	const char *remedy; /* command line that enables it, followed by 'make' */
};

struct cli_entry {
	const char *name;
	const char *summary;
	const struct cli_program *program;
	enum cli_group group;
};

extern const struct cli_entry cli_entries[]; /* ends with name NULL */
extern const char *const cli_group_titles[CLI_GROUPS];

const struct cli_entry *cli_entry_find(const char *name);      /* by name or alias; NULL: unknown command */
const struct cli_missing *cli_missing_find(const char *name);  /* by name or alias; NULL: not found */
const char *cli_entry_nearest(const char *typed);              /* for "did you mean"; NULL: nothing similar */
void cli_entry_list(struct buf *out, const struct term *term); /* all commands by group, with summaries */

#endif
