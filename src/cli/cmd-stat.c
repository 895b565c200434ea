/* sonde stat: record a program, then say where its time went. */
#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/recording.h"
#include "launch/launch.h"

#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* What `sonde summary` says of the run goes to stderr: stdout is the program's. */
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

static int run_hosts(struct cli_context *ctx)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	int status = 0, rc = recording_hosts(ctx, true, &status, &path);
	if (!rc)
		rc = summarise(path.data, ctx->err);
	if (!rc)
		ctx->exit_code = status;
	return rc;
}

static int run(struct cli_context *ctx)
{
	const struct recording_options *o = ctx->options;
	struct record_result result = RECORD_RESULT_INIT;
	if (o->hosts.count)
		return run_hosts(ctx);
	int rc = recording_run(ctx, true, &result);
	int status = result.has_timed_out ? W_EXITCODE(RECORDING_TIMED_OUT, 0) : result.status;

	fflush(NULL);
	if (!rc && result.path.len)
		rc = summarise(result.path.data, ctx->err);
	record_result_release(&result);
	if (rc || !ctx->program)
		return rc;
	launch_mirror(status);
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
