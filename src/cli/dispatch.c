/*
 * dispatch: the commands of bin/sonde itself (help, version, completion), and execution of the others.
 */
#define CLI_COMMANDS "cli/commands-front.inc"
#include "cli/commands.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/help.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void front_print_overview(void)
{
	CLEANUP(buf_release) struct buf text = BUF_INIT;
	struct term term = term_of(stdout);

	term_add(&text, &term, TERM_BOLD, "Usage:");
	buf_adds(&text, " sonde COMMAND [OPTION...]\n\n");
	buf_adds(&text, "Record, inspect, compare, tune and monitor programs.\n\n");
	cli_entry_list(&text, &term);
	buf_adds(&text, "\n'sonde COMMAND --help' explains a command; 'man sonde' has an overview.\n");
	fputs(text.data, stdout);
}

static int unknown_command(const char *name, struct sonde_err *err)
{
	const struct cli_missing *missing = cli_missing_find(name);
	const char *nearest = cli_entry_nearest(name);

	if (missing) {
		err_set(err, ENOTSUP, "cannot run 'sonde %s': this sonde was built without %s (%s)", missing->name,
				missing->feature, missing->reason);
		err_hint(err, "in the source tree of sonde, run '%s', then 'make'", missing->remedy);
		return CLI_EXIT_FAILED;
	}

	err_set(err, EINVAL, name[0] == '-' ? "unknown option '%s'" : "unknown command '%s'", name);
	if (nearest && name[0] != '-')
		err_hint(err, "did you mean 'sonde %s'?", nearest);
	else
		err_hint(err, "'sonde help' lists the commands");
	return CLI_EXIT_USAGE;
}

/* argv[-1] exists: the word before the command's name, which is replaced by the program's name. */
static int become(const struct cli_entry *entry, char **argv, struct sonde_err *err)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	int errnum;

	if (fs_prefix(&path, err))
		return entry->program->fail_code;
	buf_addf(&path, "/libexec/sonde/%s", entry->program->file);
	argv[0] = (char *)(uintptr_t)entry->name; /* may have been an alias */
	argv[-1] = path.data + (path.len - strlen(entry->program->file));
	execv(path.data, argv - 1);
	errnum = errno;
	err_sys(err, errnum, "cannot run '%s' for 'sonde %s'", path.data, entry->name);
	if (errnum == ENOENT)
		err_hint(err, "this installation is incomplete; install sonde again, or run 'make' in its source tree");
	return entry->program->fail_code;
}

int front_dispatch(char **argv, struct sonde_err *err)
{
	const struct cli_entry *entry = cli_entry_find(argv[0]);

	if (!entry)
		return unknown_command(argv[0], err);
	if (entry->program->file)
		return become(entry, argv, err);
	for (size_t i = 0; commands[i]; i++)
		if (strcmp(commands[i]->name, argv[0]) == 0)
			return cli_run(commands[i], argv);
	return CLI_EXIT_FAILED;
}

/* sonde help: print the list of commands, or one command's help or man page. */

struct help_options {
	bool wants_man;
};

static const struct cli_option help_rows[] = {
	{ 'm', "man", NULL, CLI_FLAG(struct help_options, wants_man), .help = "Open the man page." },
	CLI_OPTIONS_END,
};

static int open_man_page(struct cli_context *ctx)
{
	CLEANUP(buf_release) struct buf page = BUF_INIT;
	const char *name = ctx->arg_count ? ctx->args[0] : NULL;
	int rc = fs_prefix(&page, ctx->err);

	if (rc)
		return rc;
	buf_addf(&page, "/share/man/man1/sonde%s%s.1", name ? "-" : "", name ? name : "");
	if (access(page.data, R_OK) != 0)
		return err_sys(ctx->err, errno, "cannot open the man page '%s'", page.data);
	execlp("man", "man", page.data, NULL);
	return err_sys(ctx->err, errno, "cannot run 'man'");
}

static int run_help(struct cli_context *ctx)
{
	const struct help_options *o = ctx->options;
	char word[] = "--help";
	char *argv[] = { NULL, ctx->args[0], word, NULL };

	if (ctx->arg_count && !cli_entry_find(ctx->args[0])) {
		ctx->exit_code = front_dispatch(ctx->args, ctx->err);
		return -EINVAL;
	}
	if (o->wants_man)
		return open_man_page(ctx);
	if (!ctx->arg_count) {
		front_print_overview();
		return 0;
	}
	ctx->exit_code = front_dispatch(argv + 1, ctx->err);
	return ctx->err->text[0] ? -EIO : 0;
}

static const struct cli_example help_examples[] = {
	{ "sonde help record", "Show the options of sonde record, as 'sonde record --help' does." },
	{ "sonde help --man record", "Open its man page, even if it is not in MANPATH." },
	{ NULL },
};

const struct cli_command cmd_help = {
	.name = "help",
	.usage = "[--man] [COMMAND]",
	.positional = { "COMMAND", 0, 1, CLI_TYPE_STRING, .help = "Command to explain (default: list all commands)." },
	.options = help_rows,
	.options_size = sizeof(struct help_options),
	.examples = help_examples,
	.run = run_help,
};

/* sonde version: print the version. */

static int run_version(struct cli_context *ctx)
{
	puts("sonde " SONDE_VERSION);
	return 0;
}

const struct cli_command cmd_version = { .name = "version", .usage = "", .run = run_version };

/* sonde completion: print the completion script that the build generated from the option tables. */

#define SCRIPT_BYTES_MAX ((size_t)1 << 20)

static const char *const completion_shells[] = { "bash", "zsh", NULL };
static const char *const scripts[] = { "/share/bash-completion/completions/sonde", "/share/zsh/site-functions/_sonde" };

static int run_completion(struct cli_context *ctx)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	CLEANUP(buf_release) struct buf script = BUF_INIT;
	int rc = fs_prefix(&path, ctx->err);

	for (size_t i = 0; completion_shells[i]; i++)
		if (strcmp(completion_shells[i], ctx->args[0]) == 0)
			buf_adds(&path, scripts[i]);
	if (!rc)
		rc = fs_read_file(AT_FDCWD, path.data, SCRIPT_BYTES_MAX, &script, ctx->err);
	if (!rc)
		fwrite(script.data, 1, script.len, stdout);
	return rc;
}

static const struct cli_example completion_examples[] = {
	{ "source <(sonde completion bash)", "Enable completion in the current shell." },
	{ NULL },
};

const struct cli_command cmd_completion = {
	.name = "completion",
	.usage = "bash|zsh",
	.positional = { "SHELL", 1, 1, CLI_TYPE_CHOICE, completion_shells, "The shell to print the script for." },
	.examples = completion_examples,
	.run = run_completion,
};
