/*
 * dispatch: executes the program under libexec/sonde that has the command, apart from the few commands of bin/sonde
 * itself.
 */
#ifndef SONDE_CLI_DISPATCH_H
#define SONDE_CLI_DISPATCH_H

#include "cli/cli.h"

/* Runs the command argv[0], of another program or of this one. Returns an exit code; on failure err is filled. Does
 * not return if another program was executed. */
int front_dispatch(char **argv, struct sonde_err *err);

/* Prints the list of commands, for `sonde` without arguments. */
void front_print_overview(void);

#endif
