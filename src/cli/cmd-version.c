/*
 * sonde version: print the version.
 */
#include "cli/cli.h"

#include <stdio.h>

static int run(struct cli_context *ctx)
{
	puts("sonde " SONDE_VERSION);
	return 0;
}

const struct cli_command cmd_version = { .name = "version", .usage = "", .run = run };
