/*
 * remote: the path of sonde on another host, for commands that start it by a remote shell.
 */
#ifndef SONDE_CLI_REMOTE_H
#define SONDE_CLI_REMOTE_H

#include "cli/cli.h"

/* The path given by --remote; NULL: the same path as here. Allocated in the context's arena. */
int remote_path(struct cli_context *ctx, const char *remote, const char **path);

#endif
