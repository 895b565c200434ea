/*
 * docs: man pages and completion scripts from the option tables, at build time.
 *
 * A template is text with marker lines (`@OPTIONS@`); the function of each marker writes the lines that replace it.
 * Only used by the build-time program cli-docs; not installed.
 */
#ifndef SONDE_CLI_DOCS_H
#define SONDE_CLI_DOCS_H

#include "base/buf.h"
#include "cli/cli.h"

struct docs {
	const struct cli_command *const *commands; /* all, NULL-terminated */
	const struct cli_command *command;         /* of the page; NULL for sonde itself */
};

struct docs_marker {
	const char *name;
	void (*write)(struct buf *out, const struct docs *docs);
};

extern const struct docs_marker docs_man_markers[]; /* end with name NULL */
extern const struct docs_marker docs_bash_markers[];
extern const struct docs_marker docs_zsh_markers[];

/* Calls the function for each option of a command, including --help. */
void docs_each_option(struct buf *out, const struct cli_command *command,
		void (*each)(struct buf *, const struct cli_command *, const struct cli_option *));

#endif
