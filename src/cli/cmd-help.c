/*
 * sonde help: print the list of commands, or one command's help or man page.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/cli.h"
#include "cli/dispatch.h"
#include "cli/registry.h"

#include <errno.h>
#include <unistd.h>

struct help_options {
	bool wants_man;
};

static const struct cli_option options[] = {
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

static int run(struct cli_context *ctx)
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

static const struct cli_example examples[] = {
	{ "sonde help record", "Show the options of sonde record, as 'sonde record --help' does." },
	{ "sonde help --man record", "Open its man page, even if it is not in MANPATH." },
	{ NULL },
};

const struct cli_command cmd_help = {
	.name = "help",
	.usage = "[--man] [COMMAND]",
	.positional = { "COMMAND", 0, 1, CLI_TYPE_STRING, .help = "Command to explain (default: list all commands)." },
	.options = options,
	.options_size = sizeof(struct help_options),
	.examples = examples,
	.run = run,
};
