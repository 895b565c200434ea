/*
 * mule: a program with a known load.
 *
 *	mule MEBIBYTES CALLS FILE [GO]
 *
 * Touches that much memory, waits until the file GO exists, writes CALLS times 16
 * bytes to FILE, one pwrite each, and says "carried" and its own pid.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 4)
		return 2;
	size_t bytes = strtoul(argv[1], NULL, 10) << 20;
	long calls = strtol(argv[2], NULL, 10);
	char *load = malloc(bytes + 1);
	if (!load)
		return 3;
	memset(load, 7, bytes + 1);
	int fd = open(argv[3], O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0)
		return 4;
	puts("ready");
	fflush(stdout);
	while (argc > 4 && access(argv[4], F_OK))
		usleep(1000);
	for (long i = 0; i < calls; i++)
		if (pwrite(fd, "sixteen bytes...", 16, i % 4096 * 16) != 16)
			return 5;
	printf("carried %d\n", (int)getpid());
	return load[bytes / 2] == 7 ? 0 : 6;
}
