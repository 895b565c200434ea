/*
 * docs: man pages and completion scripts from the option tables, at build time.
 *
 * A template is prose with marker lines (`@OPTIONS@`); each marker's function
 * writes the lines that take its place. Used by the build's own program
 * cli-docs only; nothing of it is installed.
 */
#ifndef SONDE_CLI_DOCS_H
#define SONDE_CLI_DOCS_H

#include "base/buf.h"
#include "cli/cli.h"

struct docs {
	const struct cli_command *const *commands; /* all, NULL-terminated */
	const struct cli_command *command;         /* the page's; NULL for sonde itself */
};

struct docs_marker {
	const char *name;
	void (*write)(struct buf *out, const struct docs *docs);
};

extern const struct docs_marker docs_man_markers[]; /* end with name NULL */
extern const struct docs_marker docs_bash_markers[];
extern const struct docs_marker docs_zsh_markers[];

/* Call for each option of a command, --help included. */
void docs_each_option(struct buf *out, const struct cli_command *command,
		void (*each)(struct buf *, const struct cli_command *, const struct cli_option *));

#endif
