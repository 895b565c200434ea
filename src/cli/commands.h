/*
 * commands: the tables of one program's commands.
 *
 * Includes the rows of CLI_COMMANDS (commands-<program>.inc, made by the build from
 * commands.def; commands.inc has all of them), declares their cmd_<name> and defines
 * `commands`, the NULL-terminated list. Included by mains only.
 */
#include "cli/cli.h"

#include <stddef.h>

#define X(name, program, group, summary) extern const struct cli_command cmd_##name;
#include CLI_COMMANDS
#undef X

static const struct cli_command *const commands[] = {
#define X(name, program, group, summary) &cmd_##name,
#include CLI_COMMANDS
#undef X
	NULL,
};
