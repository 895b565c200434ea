#include "doctor/command-output.h"

#include "base/cleanup.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_MAX 65536

static int start(char *const argv[], char *const env[], int output, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	int rc = posix_spawn_file_actions_init(&actions);

	if (rc)
		return -rc;
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
	rc = posix_spawn(pid, argv[0], &actions, NULL, argv, env);
	posix_spawn_file_actions_destroy(&actions);
	return -rc;
}

/* Returns 0 at end of output, -ETIMEDOUT if it does not come in time. */
static int drain(int fd, int64_t until_ns, struct buf *out)
{
	char bytes[4096];

	for (;;) {
		int64_t left_ns = until_ns - clock_mono_ns();
		struct pollfd wait = { .fd = fd, .events = POLLIN };
		ssize_t n;

		if (left_ns <= 0 || poll(&wait, 1, (int)(left_ns / 1000000) + 1) == 0)
			return -ETIMEDOUT;
		n = read(fd, bytes, sizeof(bytes));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		if (out->len + (size_t)n <= OUTPUT_MAX)
			buf_add(out, bytes, (size_t)n);
	}
}

int capture(char *const argv[], char *const env[], int timeout_ms, struct buf *out)
{
	int64_t until_ns = clock_mono_ns() + (int64_t)timeout_ms * 1000000;
	int ends[2], status = 0, rc;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	CLEANUP(cleanup_fd) int output = ends[0];
	rc = start(argv, env, ends[1], &pid);
	close(ends[1]);
	if (rc)
		return rc;
	rc = drain(output, until_ns, out);
	if (rc)
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return rc || status == 0 ? rc : -EIO;
}
