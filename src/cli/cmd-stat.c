/* sonde stat: run a program and print a summary. */
#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/recording.h"
#include "launch/spawn-command.h"

#include <errno.h>
#include <unistd.h>

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

static int run(struct cli_context *ctx)
{
	return recording_do(ctx, summarise);
}

static const struct cli_example examples[] = {
	{ "sonde stat -- make -j2", "Record a build and print a summary." },
	{ NULL, NULL },
};

const struct cli_command cmd_stat = {
	.name = "stat",
	.usage = "[--probes LIST] -- PROGRAM [ARGUMENT...]",
	.options = recording_rows,
	.options_size = sizeof(struct recording_options),
	.examples = examples,
	.exit_codes = recording_exit_codes,
	.flags = CLI_TAKES_PROGRAM,
	.fail_code = RECORDING_FAILED,
	.run = run,
};
