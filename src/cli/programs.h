/*
 * programs: the commands of one program, from commands.def.
 *
 *	#define CLI_PROGRAM_look
 *	#include "cli/programs.h"
 *
 * declares cmd_<name> for every built command and defines `commands`, the
 * NULL-terminated list of those whose program is "look". Included by mains only.
 */
#include "cli/cli.h"

#include <stddef.h>

#define X(name, program, group, summary) extern const struct cli_command cmd_##name;
#include "cli/commands.inc"
#undef X

#ifdef CLI_PROGRAM_front
#define IN_front(name) &cmd_##name,
#else
#define IN_front(name)
#endif
#ifdef CLI_PROGRAM_record
#define IN_record(name) &cmd_##name,
#else
#define IN_record(name)
#endif
#ifdef CLI_PROGRAM_look
#define IN_look(name) &cmd_##name,
#else
#define IN_look(name)
#endif

static const struct cli_command *const commands[] = {
#define X(name, program, group, summary) IN_##program(name)
#include "cli/commands.inc"
#undef X
	NULL,
};
