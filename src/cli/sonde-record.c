/*
 * sonde-record: the program that runs and records. Links libc and zstd only and
 * starts in milliseconds.
 */
#define CLI_PROGRAM_record
#include "cli/programs.h"

int main(int argc, char **argv)
{
	return cli_main(argc, argv, commands);
}
