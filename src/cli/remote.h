/*
 * remote: sonde on another host, as commands that start it there by a remote shell name it.
 */
#ifndef SONDE_CLI_REMOTE_H
#define SONDE_CLI_REMOTE_H

#include "cli/cli.h"

/* The path of sonde there: what --remote says, NULL: where it is here. In the context's arena. */
int remote_path(struct cli_context *ctx, const char *remote, const char **path);

#endif
