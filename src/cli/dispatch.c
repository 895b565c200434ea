/*
 * dispatch: the commands of bin/sonde itself, and execution of the others.
 */
#define CLI_COMMANDS "cli/commands-front.inc"
#include "cli/commands.h"

#include "base/cleanup.h"
#include "base/fs.h"
#include "cli/dispatch.h"
#include "cli/registry.h"

#include <errno.h>
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

static int run_here(char **argv)
{
	for (size_t i = 0; commands[i]; i++)
		if (strcmp(commands[i]->name, argv[0]) == 0)
			return cli_run(commands[i], argv);
	return CLI_EXIT_FAILED;
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
	return entry->program->file ? become(entry, argv, err) : run_here(argv);
}
