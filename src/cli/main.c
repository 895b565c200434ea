/*
 * main: parses, runs, prints the error and returns the exit code. All that commands write to stderr is written here
 * (tools/banned), except the progress line of result/term.c.
 */
#include "base/cleanup.h"
#include "cli/cli.h"
#include "cli/help.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void cli_message(const char *prefix, const char *fmt, ...)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT, line = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vaddf(&text, fmt, ap);
	va_end(ap);
	if (prefix)
		buf_addf(&line, "%s: ", prefix);
	term_safe(&line, text.data);
	fprintf(stderr, "%s\n", line.data);
}

void cli_print_error(const char *prefix, const struct sonde_err *err)
{
	cli_message(prefix, "%s", err->text);
	if (err->hint[0])
		cli_message("hint", "%s", err->hint);
}

/* A closed pipe (`| head`) is not an error. It is only reported if SIGPIPE is ignored. */
static int flush_stdout(struct sonde_err *err)
{
	struct pollfd out = { .fd = STDOUT_FILENO };
	bool is_broken = ferror(stdout);

	errno = 0;
	if ((fflush(stdout) == 0 && !is_broken) || (poll(&out, 1, 0) == 1 && out.revents & POLLERR))
		return 0;
	return err_sys(err, errno ? errno : EIO, "cannot write to standard output");
}

int cli_run(const struct cli_command *command, char **argv)
{
	CLEANUP(arena_release) struct arena arena = ARENA_INIT;
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct sonde_err err = SONDE_ERR_INIT;
	struct cli_context ctx = { .arena = &arena, .err = &err };
	struct term term = term_of(stdout);
	int rc = cli_parse(&ctx, command, argv);

	if (rc == CLI_HELP_ASKED) {
		help_write(&text, command, &term);
		rc = buf_error(&text) ? err_sys(&err, ENOMEM, "cannot write the help") : 0;
		fputs(text.data, stdout);
	} else if (rc == 0) {
		rc = command->run(&ctx);
	}
	if (rc == 0)
		rc = flush_stdout(&err);
	if (rc == 0)
		return ctx.exit_code;
	fflush(stdout);
	buf_reset(&text);
	buf_adds(&text, "sonde");
	if (ctx.exit_code == CLI_EXIT_USAGE)
		buf_addf(&text, " %s", command->name);
	cli_print_error(text.data, &err);
	if (ctx.exit_code)
		return ctx.exit_code;
	return command->fail_code ? command->fail_code : CLI_EXIT_FAILED;
}

int cli_main(int argc, char **argv, const struct cli_command *const commands[])
{
	for (size_t i = 0; argc > 1 && commands[i]; i++)
		if (strcmp(commands[i]->name, argv[1]) == 0)
			return cli_run(commands[i], argv + 1);
	fprintf(stderr, "%s: internal program of 'sonde' with the commands:", argv[0]);
	for (size_t i = 0; commands[i]; i++)
		fprintf(stderr, " %s", commands[i]->name);
	fputc('\n', stderr);
	return CLI_EXIT_USAGE;
}
