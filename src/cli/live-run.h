/* live-run: runs a program with a board that `sonde live` finds. */
#ifndef SONDE_CLI_LIVE_RUN_H
#define SONDE_CLI_LIVE_RUN_H

#include "base/err.h"

#include <stdbool.h>

/* Runs argv in the foreground; *status as returned by waitpid. name NULL: the program's name. is_grouped: in its own
 * cgroup. */
int live_run(char *const *argv, const char *name, bool is_grouped, int *status, struct sonde_err *err);

#endif
