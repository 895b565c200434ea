/*
 * The main of every program under libexec/sonde; its commands are the rows of
 * commands.def that name it, in the file that the build calls CLI_COMMANDS.
 */
#include "cli/commands.h"

int main(int argc, char **argv)
{
	return cli_main(argc, argv, commands);
}
