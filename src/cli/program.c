/*
 * The main function of every program under libexec/sonde; its commands are the rows of commands.def that name it,
 * from the file CLI_COMMANDS of the build.
 */
#include "cli/commands.h"

int main(int argc, char **argv)
{
	return cli_main(argc, argv, commands);
}
