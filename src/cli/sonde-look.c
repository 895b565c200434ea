/*
 * sonde-look: the program of the commands that read runs and look at the machine.
 */
#define CLI_PROGRAM_look
#include "cli/programs.h"

int main(int argc, char **argv)
{
	return cli_main(argc, argv, commands);
}
