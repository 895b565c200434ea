/* Starts and stops the ptrace process; see ptrace-process.h. Its main loop is in ptrace-loop.c. */
#include "probe/syscall/ptrace-process.h"

#include "launch/spawn-command.h"
#include "probe/probe.h"
#include "probe/syscall/ptrace-loop.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#define PIPE_BYTES (1 << 20)

/* In the child: detaches from the terminal, and exits with its parent. */
static void live_apart(pid_t parent)
{
	struct sigaction plain = { .sa_handler = SIG_DFL }, ignored = { .sa_handler = SIG_IGN };
	sigset_t none;
	sigemptyset(&none);
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "sonde-watcher");
	sigaction(SIGCHLD, &plain, NULL);
	sigaction(SIGPIPE, &ignored, NULL);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (getppid() != parent)
		_exit(1);
}

/* Closes the program's files: they must not stay open here. */
static void close_others(int to, int *seen)
{
	int high = fcntl(to, F_DUPFD, 64), map = *seen >= 0 ? fcntl(*seen, F_DUPFD, 64) : -1;
	dup2(high, 3);
	if (map >= 0)
		*seen = dup2(map, 4);
	close_range(map >= 0 ? 5 : 4, ~0u, 0);
	for (int fd = 0; fd < 3; fd++) {
		close(fd);
		open("/dev/null", O_RDWR);
	}
}

/* Reads the first byte, the result of attaching: 0, or an errno. */
static int await_start(const struct watcher *w, struct sonde_err *err)
{
	unsigned char error = 0;
	ssize_t n;
	do
		n = read(w->fd, &error, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1 && !error)
		return 0;
	error = n == 1 ? error : EIO;
	err_sys(err, error, "cannot watch system calls by ptrace");
	if (error == EPERM || error == EACCES)
		err_hint(err,
				"another program traces it, or kernel.yama.ptrace_scope is above 0; in a container: "
				"--cap-add SYS_PTRACE");
	return -error;
}

int watcher_start(struct watcher *w, const struct watcher_options *o, struct sonde_err *err)
{
	int ends[2];
	pid_t parent = getpid();
	*w = (struct watcher){ .fd = -1 };
	if (pipe2(ends, O_CLOEXEC))
		return err_sys(err, errno, "cannot watch system calls");
	fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES);
	w->pid = fork();
	if (!w->pid) {
		struct watcher_options own = *o;
		live_apart(parent);
		close_others(ends[1], &own.seen);
		watch(3, &own);
		_exit(0);
	}
	close(ends[1]);
	w->fd = ends[0];
	int rc = w->pid < 0 ? err_sys(err, errno, "cannot watch system calls") : await_start(w, err);
	if (rc)
		watcher_release(w);
	else
		fcntl(w->fd, F_SETFL, O_NONBLOCK);
	return rc;
}

void watcher_stop(struct watcher *w)
{
	if (w->pid > 0)
		kill(w->pid, SIGTERM);
	fcntl(w->fd, F_SETFL, 0);
}

void watcher_release(struct watcher *w)
{
	if (w->pid > 0) {
		kill(w->pid, SIGKILL);
		launch_reap(w->pid);
	}
	if (w->fd >= 0)
		close(w->fd);
	*w = (struct watcher){ .fd = -1 };
}
