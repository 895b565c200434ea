/*
 * registry: the rows of commands.def that are built, as data.
 *
 * It knows every command's name, program and summary, and no command's code, so
 * the front program can find and name them all and link none of them.
 */
#ifndef SONDE_CLI_REGISTRY_H
#define SONDE_CLI_REGISTRY_H

#include "base/buf.h"
#include "cli/cli.h"
#include "cli/term.h"

#include <stddef.h>

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
	int fail_code;    /* exit code when it cannot be started */
};

/* A command of a feature that is not built, and why. */
struct cli_missing {
	const char *name;
	const char *feature;
	const char *reason;
	const char *remedy; /* the command line that would change it, before another 'make' */
};

struct cli_entry {
	const char *name;
	const char *summary;
	const struct cli_program *program;
	enum cli_group group;
};

extern const struct cli_entry cli_entries[]; /* ends with name NULL */
extern const char *const cli_group_titles[CLI_GROUPS];

const struct cli_entry *cli_entry_find(const char *name);      /* by name or alias; NULL: no such command */
const struct cli_missing *cli_missing_find(const char *name);  /* by name or alias; NULL: none of ours */
const char *cli_entry_nearest(const char *typed);              /* for "did you mean"; NULL: nothing like it */
void cli_entry_list(struct buf *out, const struct term *term); /* all by group, with summaries */

#endif
