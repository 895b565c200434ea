/* live-run: a program with a board that `sonde live` finds. */
#ifndef SONDE_CLI_LIVE_RUN_H
#define SONDE_CLI_LIVE_RUN_H

#include "base/err.h"

/* Runs argv in the foreground; *status as waitpid tells it. name NULL: the program's. */
int live_run(char *const *argv, const char *name, int *status, struct sonde_err *err);

#endif
