#include "launch/launch.h"

#include "base/fs.h"
#include "launch/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const int watched[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH, SIGCHLD };

static int take_signals(struct launch *l, struct sonde_err *err)
{
	sigset_t set;
	struct sigaction ignore = { .sa_handler = SIG_IGN }, usual = { .sa_handler = SIG_DFL };
	sigemptyset(&set);
	for (size_t i = 0; i < sizeof(watched) / sizeof(*watched); i++)
		sigaddset(&set, watched[i]);
	sigprocmask(SIG_BLOCK, &set, &l->old_mask);
	sigaction(SIGPIPE, &ignore, &l->old_pipe);
	sigaction(SIGCHLD, &usual, &l->old_child); /* if SIGCHLD is ignored, the exit status of a child is lost */
	l->signalfd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return l->signalfd < 0 ? err_sys(err, errno, "cannot watch for signals") : 0;
}

static void restore_signals(const struct launch *l)
{
	sigaction(SIGPIPE, &l->old_pipe, NULL);
	sigaction(SIGCHLD, &l->old_child, NULL);
	sigprocmask(SIG_SETMASK, &l->old_mask, NULL);
}

static void restore_signals_in_child(const void *arg)
{
	const struct launch *l = arg;
	sigaction(SIGXFSZ, &l->old_file_limit, NULL);
	restore_signals(l);
}

/*
 * Runs in the child. The report pipe closes on a successful exec. If the barrier closes without being opened, our
 * parent has died.
 */
static void become(const struct launch *l, const struct launch_spec *spec, int report, const int *start_barrier)
{
	char go;
	close(start_barrier[1]);
	if (read(start_barrier[0], &go, 1) != 1)
		_exit(125);
	for (size_t i = 0; spec->env && spec->env[i]; i++)
		putenv((char *)(uintptr_t)spec->env[i]);
	restore_signals_in_child(l);
	execvp(spec->argv[0], spec->argv);
	int failed = errno;
	ssize_t n = write(report, &failed, sizeof(failed));
	_exit(n == sizeof(failed) ? 127 : 126);
}

static void open_start_barrier(int fd)
{
	while (write(fd, "", 1) < 0 && errno == EINTR)
		;
	close(fd);
}

static int read_report(int fd)
{
	int failed = 0;
	ssize_t n;
	do
		n = read(fd, &failed, sizeof(failed));
	while (n < 0 && errno == EINTR);
	return n == sizeof(failed) ? failed : 0;
}

int launch_cannot_execute(const char *program, int errnum, struct sonde_err *err)
{
	err_sys(err, errnum, "cannot execute '%s'", program);
	if (errnum == ENOENT)
		err_hint(err, strchr(program, '/') ? "check the path" : "it is in no directory of PATH");
	return errnum == ENOENT || errnum == ENOTDIR ? -ENOENT : -EACCES;
}

int launch_check(const char *program, struct sonde_err *err)
{
	int error = fs_check_program(program);
	return error ? launch_cannot_execute(program, error, err) : 0;
}

/* Starts it below a supervisor, which can kill the whole tree. */
static int start_job(struct launch *l, const struct launch_spec *spec, struct sonde_err *err)
{
	struct job_spec js = { .argv = spec->argv,
		.env = spec->env,
		.fds = { JOB_FD_OURS, JOB_FD_OURS, JOB_FD_OURS },
		.place = spec->place,
		.is_foreground = true,
		.is_bound = spec->is_bound,
		.restore = restore_signals_in_child,
		.restore_arg = l,
		.ready = spec->ready,
		.meanwhile = spec->meanwhile,
		.met = spec->met,
		.ready_arg = spec->arg };
	int rc = job_start(&l->job, &js, err);
	if (rc)
		return rc;
	l->pid = job_pid(l->job);
	l->pidfd = job_pidfd(l->job);
	return 0;
}

int launch_start(struct launch *l, const struct launch_spec *spec, struct sonde_err *err)
{
	int report[2], start_barrier[2];
	memset(l, 0, sizeof(*l));
	l->pidfd = l->signalfd = -1;
	l->oom_before = cgroup_own_oom_kills();
	int rc = take_signals(l, err);
	if (rc)
		return rc;
	if (spec->file_limit)
		l->old_file_limit = *spec->file_limit;
	else
		sigaction(SIGXFSZ, NULL, &l->old_file_limit);
	if (spec->place || spec->is_kept || spec->is_bound)
		return start_job(l, spec, err);
	if (pipe2(report, O_CLOEXEC))
		return err_sys(err, errno, "cannot create a pipe");
	if (pipe2(start_barrier, O_CLOEXEC)) {
		rc = err_sys(err, errno, "cannot create a pipe");
		close(report[0]);
		close(report[1]);
		return rc;
	}
	l->pid = fork();
	if (l->pid < 0) {
		rc = err_sys(err, errno, "cannot fork");
		close(report[0]);
		close(report[1]);
		close(start_barrier[0]);
		close(start_barrier[1]);
		return rc == -EAGAIN || rc == -ENOMEM ? rc : -EAGAIN;
	}
	if (!l->pid)
		become(l, spec, report[1], start_barrier);
	close(report[1]);
	close(start_barrier[0]);
	if (spec->ready)
		spec->ready(spec->arg, l->pid);
	open_start_barrier(start_barrier[1]);
	int failed = read_report(report[0]);
	close(report[0]);
	if (failed) {
		waitpid(l->pid, NULL, 0);
		l->pid = 0;
		return launch_cannot_execute(spec->argv[0], failed, err);
	}
	l->pidfd = (int)syscall(SYS_pidfd_open, l->pid, 0);
	return l->pidfd < 0 ? err_sys(err, errno, "cannot watch process %d", (int)l->pid) : 0;
}

int launch_exit_code(int rc)
{
	return rc == -ENOENT ? 127 : rc == -EACCES ? 126 : 0;
}

/*
 * A signal sent by a process reaches only us, one from the terminal our whole process group; a hang-up the session
 * leader.
 */
static bool is_ours_alone(const struct signalfd_siginfo *info)
{
	return info->ssi_code <= 0 || (info->ssi_signo == SIGHUP && getsid(0) == getpid());
}

/*
 * The command stopped itself, as pagers do at Ctrl-Z: stop too, so that the shell notices. Not for SIGSTOP: its
 * sender will continue the command, not us.
 */
static void stop_alike(const struct launch *l)
{
	siginfo_t info = { 0 };
	if (waitid(P_PID, (id_t)l->pid, &info, WSTOPPED | WNOHANG) || !info.si_pid || info.si_status == SIGSTOP)
		return;
	raise(SIGTSTP);
	info.si_pid = 0;
	if (!waitid(P_PID, (id_t)l->pid, &info, WCONTINUED | WNOHANG) && !info.si_pid)
		kill(l->pid, SIGCONT);
}

void launch_forward_signals(struct launch *l)
{
	struct signalfd_siginfo info;
	while (l->pidfd >= 0 && read(l->signalfd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			stop_alike(l);
		else if (is_ours_alone(&info)) /* in a container this is its engine, which forwards it */
			syscall(SYS_pidfd_send_signal, l->pidfd, (int)info.ssi_signo, NULL, 0);
	}
}

int launch_wait(struct launch *l, int *status, struct sonde_err *err)
{
	if (l->job) {
		int rc = job_wait(l->job, INT64_MAX, err);
		*status = job_status(l->job);
		return rc;
	}
	while (wait4(l->pid, status, 0, &l->usage) < 0)
		if (errno != EINTR)
			return err_sys(err, errno, "cannot wait for process %d", (int)l->pid);
	/* Consume the SIGCHLD of its exit, so that it is not taken for a signal sent to us. */
	const struct timespec at_once = { 0 };
	sigset_t child;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigtimedwait(&child, NULL, &at_once);
	return 0;
}

void launch_poll(struct launch *l)
{
	if (l->job)
		job_poll(l->job);
}

bool launch_usage(const struct launch *l, struct rusage *usage)
{
	if (l->job)
		return job_rusage(l->job, usage);
	*usage = l->usage;
	return true;
}

int64_t launch_oom_kills(const struct launch *l)
{
	struct job_usage usage = { .oom_kills = -1 };
	if (l->job)
		job_usage(l->job, &usage);
	if (usage.oom_kills >= 0 || (l->job && job_is_client(l->job)))
		return usage.oom_kills;
	int64_t now = cgroup_own_oom_kills();
	return now < 0 || l->oom_before < 0 ? -1 : now - l->oom_before;
}

int launch_signal_tree(struct launch *l, int signal, struct sonde_err *err)
{
	return job_signal(l->job, signal, err);
}

int launch_end(struct launch *l, const struct job_ladder *ladder, struct sonde_err *err)
{
	return job_end(l->job, ladder, err);
}

pid_t launch_inner_pid(const struct launch *l)
{
	return l->job ? job_inner_pid(l->job) : l->pid;
}

void launch_release(struct launch *l)
{
	job_abandon(l->job);
	if (l->pidfd >= 0 && !l->job)
		close(l->pidfd);
	if (l->signalfd >= 0)
		close(l->signalfd);
	restore_signals(l);
}

void launch_mirror(int status)
{
	if (WIFSIGNALED(status)) {
		struct rlimit no_core = { 0 };
		sigset_t set;
		setrlimit(RLIMIT_CORE, &no_core);
		signal(WTERMSIG(status), SIG_DFL);
		sigemptyset(&set);
		sigaddset(&set, WTERMSIG(status));
		sigprocmask(SIG_UNBLOCK, &set, NULL);
		raise(WTERMSIG(status));
		_exit(128 + WTERMSIG(status));
	}
	_exit(WEXITSTATUS(status));
}
