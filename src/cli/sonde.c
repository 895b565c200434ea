/*
 * sonde: the front program. It executes the program that has a command, as git does; a few commands that need only
 * libc are built in.
 */
#include "cli/cli.h"

#include <string.h>

static char help_word[] = "help", version_word[] = "version";

/* Options that are aliases of commands. */
static const struct {
	const char *typed;
	char *command;
} spellings[] = {
	{ "--help", help_word },
	{ "-h", help_word },
	{ "--version", version_word },
	{ "-V", version_word },
};

int main(int argc, char **argv)
{
	struct sonde_err err = SONDE_ERR_INIT;
	int code;

	if (argc < 2) {
		front_print_overview();
		return CLI_EXIT_FINE;
	}
	for (size_t i = 0; i < sizeof(spellings) / sizeof(*spellings); i++)
		if (strcmp(argv[1], spellings[i].typed) == 0)
			argv[1] = spellings[i].command;
	code = front_dispatch(argv + 1, &err);
	if (err.text[0])
		cli_print_error("sonde", &err);
	return code;
}
