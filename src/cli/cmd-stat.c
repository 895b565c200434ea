/* sonde stat: run a program and print a summary. */
#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/recording.h"

#include <errno.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Runs `sonde summary` with its output on stderr: stdout belongs to the program. */
static int summarise(const char *run, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf sonde = BUF_INIT;
	posix_spawn_file_actions_t actions;
	char summary[] = "summary";
	char *argv[] = { NULL, summary, (char *)(uintptr_t)run, NULL };
	pid_t pid;
	int status = 0, rc = fs_prefix(&sonde, err);

	if (rc)
		return rc;
	buf_adds(&sonde, "/bin/sonde");
	argv[0] = sonde.data;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
	rc = posix_spawn(&pid, sonde.data, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (rc)
		return err_sys(err, rc, "cannot execute '%s'", sonde.data);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status ? err_set(err, EIO, "sonde summary failed; the run is in %s", run) : 0;
}

static int run(struct cli_context *ctx)
{
	return recording_do(ctx, summarise);
}

static const struct cli_example examples[] = {
	{ "sonde stat -- make -j2", "Where the time of a build goes." },
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
