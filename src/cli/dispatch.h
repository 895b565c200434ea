/*
 * front: what bin/sonde does besides its own small commands: hand the words on
 * to the program under libexec/sonde that has the command.
 */
#ifndef SONDE_CLI_DISPATCH_H
#define SONDE_CLI_DISPATCH_H

#include "cli/cli.h"

/* Become the command argv[0], a row of another program or of this one. Returns an exit code; on failure err is filled.
 * Does not return when another program took over. */
int front_dispatch(char **argv, struct sonde_err *err);

/* The list of commands, as `sonde` alone prints it. */
void front_print_overview(void);

#endif
