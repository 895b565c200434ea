/*
 * command: a command with an option of each type, for the tests of the parser
 * and the help.
 */
#ifndef SONDE_TEST_CLI_COMMAND_H
#define SONDE_TEST_CLI_COMMAND_H

#include "cli/cli.h"

struct sample_options {
	bool is_json;
	bool is_quiet;
	const char *name;
	const char *output;
	const char *base;
	int64_t limit;
	uint64_t size;
	int64_t wait_ns;
	int table;
	struct cli_list filters;
	struct cli_list probes;
	struct cli_list paths;
	char custom;
};

extern const struct cli_command sample_command;         /* sonde sample [RUN...], at most 2 */
extern const struct cli_command sample_program_command; /* sonde sample-run -- PROGRAM */
extern const struct cli_command sample_bare_command;    /* no options, no arguments */
extern const struct cli_command sample_both_command;    /* a RUN and a PROGRAM */
extern const struct cli_command sample_shell_command;   /* exactly one word of a choice */

#endif
