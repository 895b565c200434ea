/*
 * sonde-hold: the first process of a daemon's container; waits until it is observed.
 *
 *	sonde-hold SOCKET PROGRAM [ARGUMENT...]
 *
 * It is static, so that it runs in every image. It connects to the socket, which gives its pid to the listening
 * process, and executes the program when the connection is closed. If anything fails, it executes the program at
 * once.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc < 3)
		return 125;
	/* Waits until the socket is closed; without a socket it does not wait. */
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char byte;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (strlen(argv[1]) < sizeof(at.sun_path)) {
		memcpy(at.sun_path, argv[1], strlen(argv[1]));
		if (fd >= 0 && !connect(fd, (const struct sockaddr *)&at, sizeof(at)))
			while (read(fd, &byte, 1) < 0 && errno == EINTR)
				;
		close(fd);
	}
	execvp(argv[2], argv + 2);
	int error = errno;
	dprintf(STDERR_FILENO, "sonde: cannot execute '%s': %s\n", argv[2], strerror(error));
	return error == ENOENT || error == ENOTDIR ? 127 : 126;
}
