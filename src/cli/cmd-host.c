/* sonde host: the remote side of `sonde record --hosts`. */
#include "cli/cli.h"
#include "record/host-agent.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int run(struct cli_context *ctx)
{
	if (!strcmp(ctx->args[0], "agent") && ctx->arg_count == 1)
		return host_agent(STDIN_FILENO, STDOUT_FILENO, ctx->err);
	if (!strcmp(ctx->args[0], "run") && ctx->arg_count == 2)
		return host_run(ctx->args[1], ctx->err);
	return cli_usage(ctx, "expected 'agent', or 'run' and a directory");
}

const struct cli_command cmd_host = {
	.name = "host",
	.usage = "agent | run DIR",
	.positional = { "WORD", 1, 2, CLI_TYPE_STRING,
			.help = "agent: serve requests on stdin and stdout; run: execute the recorder prepared in "
				"DIR." },
	.fail_code = 125,
	.run = run,
};
