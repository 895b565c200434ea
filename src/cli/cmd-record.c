/* sonde record: run a program and record what it does, or attach to running processes. */
#include "cli/recording.h"

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
