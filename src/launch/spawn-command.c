#include "launch/spawn-command.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "launch/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_MAX ((size_t)1 << 20)

int launch_spawn(const struct launch_command *c, pid_t *pid, struct sonde_err *err)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	/* Standard streams, and on request no other descriptor. */
	for (int i = 0; i < 3; i++) {
		if (c->fds[i] == JOB_FD_NULL)
			posix_spawn_file_actions_addopen(&files, i, "/dev/null", i ? O_WRONLY : O_RDONLY, 0);
		else if (c->fds[i] >= 0)
			posix_spawn_file_actions_adddup2(&files, c->fds[i], i);
	}
	if (c->has_only_streams)
		posix_spawn_file_actions_addclosefrom_np(&files, 3);
	short flags = 0;
	if (c->mask) {
		posix_spawnattr_setsigmask(&attr, c->mask);
		flags |= POSIX_SPAWN_SETSIGMASK;
	}
	if (c->has_usual_signals) {
		sigset_t all;
		sigfillset(&all);
		posix_spawnattr_setsigdefault(&attr, &all);
		flags |= POSIX_SPAWN_SETSIGDEF;
	}
	flags |= c->has_own_group ? POSIX_SPAWN_SETPGROUP : 0;
	flags |= c->has_own_session ? POSIX_SPAWN_SETSID : 0;
	posix_spawnattr_setflags(&attr, flags);
	int rc = posix_spawnp(pid, c->argv[0], &files, &attr, c->argv, c->env ? c->env : environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	if (rc)
		launch_cannot_execute(c->argv[0], rc, err);
	return -rc;
}

int launch_reap(pid_t pid)
{
	int status = -1;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return status;
}

int launch_run(const struct launch_command *c, struct sonde_err *err)
{
	pid_t pid;
	int rc = launch_spawn(c, &pid, err);
	if (rc)
		return rc;
	int status = launch_reap(pid);
	return status < 0 ? err_sys(err, ECHILD, "cannot wait for '%s'", c->argv[0]) : status;
}

/* 0 at the end of the output, -ETIMEDOUT if that does not come in time. */
static int read_output(int fd, int64_t until_ns, struct buf *out)
{
	char bytes[4096];
	for (;;) {
		int64_t left_ns = until_ns - clock_mono_ns();
		int wait_ms = until_ns == INT64_MAX ? -1 : (int)(left_ns / 1000000) + 1;
		struct pollfd p = { .fd = fd, .events = POLLIN };
		if (left_ns <= 0 || poll(&p, 1, wait_ms) == 0)
			return -ETIMEDOUT;
		ssize_t n = read(fd, bytes, sizeof(bytes));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : 0;
		if (out->len + (size_t)n <= OUTPUT_MAX) /* the rest is read, so that it does not wait for us */
			buf_add(out, bytes, (size_t)n);
	}
}

int launch_output(const struct launch_command *c, int timeout_ms, struct buf *out, struct sonde_err *err)
{
	int64_t until_ns = timeout_ms < 0 ? INT64_MAX : clock_mono_ns() + (int64_t)timeout_ms * 1000000;
	struct launch_command to_pipe = *c;
	int ends[2];
	pid_t pid;
	if (pipe2(ends, O_CLOEXEC))
		return err_sys(err, errno, "cannot create a pipe");
	CLEANUP(cleanup_fd) int output = ends[0];
	to_pipe.fds[1] = ends[1];
	if (c->fds[2] != JOB_FD_OURS)
		to_pipe.fds[2] = ends[1];
	int rc = launch_spawn(&to_pipe, &pid, err);
	close(ends[1]);
	if (rc)
		return rc;
	rc = read_output(output, until_ns, out);
	if (rc)
		kill(pid, SIGKILL);
	int status = launch_reap(pid);
	if (rc || status)
		err_set(err, rc ? -rc : EIO, "'%s' %s", c->argv[0], rc == -ETIMEDOUT ? "timed out" : "failed");
	return rc || !status ? rc : -EIO;
}
