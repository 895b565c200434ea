/*
 * sonde env: print shell commands that add this installation's prefix, and one of its compatibility layers, to the
 * search paths.
 *
 * Values are computed from sonde's own environment and printed in full, so that every shell gets plain assignments. A
 * directory that is already on its path is not moved: evaluating the lines twice changes nothing.
 */
#include "base/cleanup.h"
#include "base/fs.h"
#include "base/shell-words.h"
#include "cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMPAT_DIR "/lib/sonde/compat"

struct env_options {
	int shell;
};

enum shell { BASH, ZSH, FISH, CSH };
static const char *const shells[] = { [BASH] = "bash", [ZSH] = "zsh", [FISH] = "fish", [CSH] = "csh", NULL };

/* before the name, between name and value, after the value */
static const struct {
	const char *before, *between, *after;
} assignments[] = {
	[BASH] = { "export ", "=", "" },
	[ZSH] = { "export ", "=", "" },
	[FISH] = { "set -gx ", " ", ";" },
	[CSH] = { "setenv ", " ", ";" },
};

/* A compatibility layer is a small prefix with some of these directories. */
struct search_path {
	const char *variable;
	const char *dir;        /* relative to the prefix */
	const char *compat_dir; /* relative to a compatibility layer */
	bool is_found_in_usr;   /* the system searches /usr and /usr/local by default */
	bool has_empty_end;     /* an empty last entry means the system default; elsewhere it would mean "." */
};

static const struct search_path paths[] = {
	{ "PATH", "/bin", "/bin", true, false },
	{ "MANPATH", "/share/man", "/share/man", true, true },
	{ "PKG_CONFIG_PATH", "/lib/pkgconfig", "/lib/pkgconfig", true, false },
	{ "LIBRARY_PATH", "/lib", "/lib", true, false },
	{ "LD_LIBRARY_PATH", "/lib", "/lib", true, false },
	{ "C_INCLUDE_PATH", "/include", "/include", true, false },
	{ "CPLUS_INCLUDE_PATH", "/include", "/include", true, false },
	{ "PYTHONPATH", "/lib/sonde/python", "/python", false, false },
};

#define PATHS (sizeof(paths) / sizeof(*paths))

/* Prepends dir to the variable in our environment, so that later rows see it. Returns true if it changed. */
static bool put_in_front(const struct search_path *path, const char *dir)
{
	CLEANUP(buf_release) struct buf value = BUF_INIT;
	const char *old = getenv(path->variable);
	size_t n;

	for (const char *at = old; at && *at; at += n + (at[n] == ':')) {
		n = strcspn(at, ":");
		if (n == strlen(dir) && memcmp(at, dir, n) == 0)
			return false;
	}
	buf_adds(&value, dir);
	if ((old && *old) || path->has_empty_end)
		buf_addf(&value, ":%s", old ? old : "");
	return setenv(path->variable, value.data, 1) == 0;
}

static void activate_prefix(const char *prefix, bool is_changed[PATHS])
{
	bool is_system = strcmp(prefix, "/usr") == 0 || strcmp(prefix, "/usr/local") == 0;

	for (size_t i = 0; i < PATHS; i++) {
		CLEANUP(buf_release) struct buf dir = BUF_INIT;

		if (paths[i].is_found_in_usr && is_system)
			continue;
		buf_addf(&dir, "%s%s", prefix, paths[i].dir);
		is_changed[i] |= put_in_front(&paths[i], dir.data);
	}
}

static void print_assignments(const bool is_changed[PATHS], int shell)
{
	for (size_t i = 0; i < PATHS; i++) {
		CLEANUP(buf_release) struct buf value = BUF_INIT;

		if (!is_changed[i])
			continue;
		words_quote(&value, getenv(paths[i].variable));
		printf("%s%s%s%s%s\n", assignments[shell].before, paths[i].variable, assignments[shell].between,
				value.data, assignments[shell].after);
	}
}

static void print_completion(const char *prefix, int shell)
{
	CLEANUP(buf_release) struct buf path = BUF_INIT;
	CLEANUP(buf_release) struct buf quoted = BUF_INIT;

	buf_addf(&path, "%s/share/%s", prefix,
			shell == BASH ? "bash-completion/completions/sonde" : "zsh/site-functions");
	words_quote(&quoted, path.data);
	if (shell == BASH)
		printf("if [ -n \"${BASH_VERSION-}\" ] && [ -r %s ]; then . %s; fi\n", quoted.data, quoted.data);
	if (shell == ZSH)
		printf("typeset -U fpath; fpath=(%s $fpath); autoload -Uz _sonde; "
		       "if (( $+functions[compdef] )); then compdef _sonde sonde; fi\n",
				quoted.data);
}

/* Lists the installed compatibility layers as "a, b"; returns true if name is one of them. */
static bool find_compat(const char *dir, const char *name, struct buf *list)
{
	struct dirent **entries;
	int count = scandir(dir, &entries, NULL, alphasort);
	bool is_found = false;

	for (int i = 0; i < count; i++) {
		if (entries[i]->d_name[0] != '.') {
			is_found |= strcmp(entries[i]->d_name, name) == 0;
			buf_addf(list, "%s%s", list->len ? ", " : "", entries[i]->d_name);
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return is_found;
}

static int activate_compat(const char *prefix, const char *name, bool is_changed[PATHS], struct cli_context *ctx)
{
	CLEANUP(buf_release) struct buf dir = BUF_INIT;
	CLEANUP(buf_release) struct buf list = BUF_INIT;

	buf_addf(&dir, "%s" COMPAT_DIR, prefix);
	if (!find_compat(dir.data, name, &list)) {
		cli_usage(ctx, "unknown compatibility layer '%s'", name);
		err_hint(ctx->err, "installed in '%s': %s", dir.data, list.len ? list.data : "none");
		return -EINVAL;
	}
	for (size_t i = 0; i < PATHS; i++) {
		CLEANUP(buf_release) struct buf path = BUF_INIT;

		buf_addf(&path, "%s/%s%s", dir.data, name, paths[i].compat_dir);
		if (access(path.data, F_OK) == 0)
			is_changed[i] |= put_in_front(&paths[i], path.data);
	}
	return 0;
}

static int run(struct cli_context *ctx)
{
	const struct env_options *o = ctx->options;
	CLEANUP(buf_release) struct buf prefix = BUF_INIT;
	bool is_changed[PATHS] = { false };
	int rc = fs_prefix(&prefix, ctx->err);

	if (!rc && strchr(prefix.data, ':'))
		rc = err_set(ctx->err, EINVAL, "cannot add '%s' to a search path: it contains a colon", prefix.data);
	if (rc)
		return rc;
	activate_prefix(prefix.data, is_changed);
	if (ctx->arg_count)
		rc = activate_compat(prefix.data, ctx->args[0], is_changed, ctx);
	if (rc)
		return rc;
	print_assignments(is_changed, o->shell);
	print_completion(prefix.data, o->shell);
	return 0;
}

static const struct cli_option options[] = {
	{ 's', "shell", NULL, CLI_CHOICE(struct env_options, shell), .choices = shells, .default_text = "bash",
			.help = "Syntax of this shell; bash also works in sh, dash and ksh." },
	CLI_OPTIONS_END,
};

static const struct cli_example examples[] = {
	{ "eval \"$(/opt/sonde/bin/sonde env)\"", "Use the installation in /opt/sonde in this shell." },
	{ "/opt/sonde/bin/sonde env --shell fish | source", "The same for fish." },
	{ NULL },
};

const struct cli_command cmd_env = {
	.name = "env",
	.usage = "[--shell SHELL] [NAME]",
	.positional = { "NAME", 0, 1, CLI_TYPE_STRING,
			.help = "Also activate this compatibility layer: a directory of PREFIX/lib/sonde/compat." },
	.options = options,
	.options_size = sizeof(struct env_options),
	.examples = examples,
	.run = run,
};
