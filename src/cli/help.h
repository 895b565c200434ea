/*
 * help: a command's table as help text.
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

#endif
