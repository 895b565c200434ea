/*
 * sonde completion: print the completion script that the build generated from the option tables.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/cli.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define SCRIPT_BYTES_MAX ((size_t)1 << 20)

static const char *const shells[] = { "bash", "zsh", NULL };
static const char *const scripts[] = { "/share/bash-completion/completions/sonde", "/share/zsh/site-functions/_sonde" };

static void add_script(struct buf *path, const char *shell)
{
	for (size_t i = 0; shells[i]; i++)
		if (strcmp(shells[i], shell) == 0)
			buf_adds(path, scripts[i]);
}

static int run(struct cli_context *ctx)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	CLEANUP(buf_release) struct buf script = BUF_INIT;
	int rc = fs_prefix(&path, ctx->err);

	add_script(&path, ctx->args[0]);
	if (!rc)
		rc = fs_read_file(AT_FDCWD, path.data, SCRIPT_BYTES_MAX, &script, ctx->err);
	if (!rc)
		fwrite(script.data, 1, script.len, stdout);
	return rc;
}

static const struct cli_example examples[] = {
	{ "source <(sonde completion bash)", "Enable completion in the current shell." },
	{ NULL },
};

const struct cli_command cmd_completion = {
	.name = "completion",
	.usage = "bash|zsh",
	.positional = { "SHELL", 1, 1, CLI_TYPE_CHOICE, shells, "The shell to print the script for." },
	.examples = examples,
	.run = run,
};
