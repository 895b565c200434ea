/* The commands of sonde-record: run a program and record what it does, or attach to running processes. */
#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/cli.h"
#include "cli/recording.h"
#include "launch/spawn-command.h"
#include "record/host-agent.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int run(struct cli_context *ctx)
{
	return recording_do(ctx, NULL);
}

static const struct cli_example examples[] = {
	{ "sonde record -- python3 train.py", "Record a training script and all its processes." },
	{ "sonde record --probes trace --include ./data -- ./load",
			"Use only the tracer; record only calls on files below ./data." },
	{ "sonde record --hosts a,b -- ./simulate", "Record a program on two hosts into one run with one clock." },
	{ "sonde record --pid 4711 --duration 10s", "Attach to a running process for ten seconds." },
	{ "sonde record \"tar -cf out.tar src\"",
			"A command in one string is split like in a shell, without expansion." },
	{ NULL, NULL },
};

const struct cli_command cmd_record = {
	.name = "record",
	.usage = "[-o DIR] [--name NAME] [--probes LIST] -- PROGRAM [ARGUMENT...]",
	.options = recording_rows,
	.options_size = sizeof(struct recording_options),
	.examples = examples,
	.exit_codes = recording_exit_codes,
	.flags = CLI_TAKES_PROGRAM,
	.fail_code = RECORDING_FAILED,
	.run = run,
};

/* sonde stat: run a program and print a summary. */

/* Runs `sonde summary` with its output on stderr: stdout belongs to the program. */
static int summarise(const char *run, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf sonde = BUF_INIT;
	char summary[] = "summary";
	char *argv[] = { NULL, summary, (char *)(uintptr_t)run, NULL };
	struct launch_command c = { .argv = argv, .fds = { JOB_FD_OURS, STDERR_FILENO, JOB_FD_OURS } };
	int rc = fs_prefix(&sonde, err);

	if (rc)
		return rc;
	buf_adds(&sonde, "/bin/sonde");
	argv[0] = sonde.data;
	rc = launch_run(&c, err);
	return rc > 0 ? err_set(err, EIO, "sonde summary failed; the run is in %s", run) : rc;
}

static int run_stat(struct cli_context *ctx)
{
	return recording_do(ctx, summarise);
}

static const struct cli_example stat_examples[] = {
	{ "sonde stat -- make -j2", "Record a build and print a summary." },
	{ NULL, NULL },
};

const struct cli_command cmd_stat = {
	.name = "stat",
	.usage = "[--probes LIST] -- PROGRAM [ARGUMENT...]",
	.options = recording_rows,
	.options_size = sizeof(struct recording_options),
	.examples = stat_examples,
	.exit_codes = recording_exit_codes,
	.flags = CLI_TAKES_PROGRAM,
	.fail_code = RECORDING_FAILED,
	.run = run_stat,
};

/* sonde host: the remote side of `sonde record --hosts`. */

static int run_host(struct cli_context *ctx)
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
	.run = run_host,
};
