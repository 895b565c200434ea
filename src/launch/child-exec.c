/* The child between fork and exec. Nothing here allocates. */
#include "launch/supervisor.h"

#include "base/clock.h"
#include "launch/scheduling.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static void send_report(int report, int stage, int errnum)
{
	struct supervisor_report r = { .stage = stage, .errnum = errnum, .at_ns = clock_mono_ns() };
	while (write(report, &r, sizeof(r)) < 0 && errno == EINTR)
		;
}

void supervisor_report(int report, int stage, int errnum)
{
	send_report(report, stage, errnum);
	_exit(127);
}

/* A source may be the target of another stream: first duplicate all to high numbers, then move all into place. */
static int set_streams(const int fds[3])
{
	int from[3];
	for (int i = 0; i < 3; i++) {
		int fd = fds[i] < 0 ? open("/dev/null", O_RDWR | O_CLOEXEC) : fds[i];
		from[i] = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
		if (from[i] < 0)
			return -errno;
		if (fds[i] < 0)
			close(fd);
	}
	for (int i = 0; i < 3; i++)
		if (dup2(from[i], i) < 0)
			return -errno;
	return 0;
}

/* Only the requested descriptors survive exec. */
static int keep_descriptors(const struct supervisor_plan *plan)
{
	if (plan->is_foreground)
		return 0; /* as if the program were started directly */
	if (syscall(SYS_close_range, 3, ~0u, CLOSE_RANGE_CLOEXEC))
		return -errno;
	for (size_t i = 0; i < plan->inherit_count; i++)
		if (plan->inherit[i] > 2 && fcntl(plan->inherit[i], F_SETFD, 0))
			return -errno;
	return 0;
}

static int join_groups(const struct supervisor_plan *plan)
{
	for (size_t i = 0; i < plan->join_count; i++)
		if (write(plan->join_fds[i], "0", 1) != 1)
			return -errno;
	if (!plan->is_joining)
		return 0;
	int fd = openat(plan->cgroup_fd, "cgroup.procs", O_WRONLY | O_CLOEXEC);
	return fd < 0 || write(fd, "0", 1) != 1 ? -errno : 0;
}

/*
 * Uses the raw system call: the C library reserves two signals and refuses to reset them, but its posix_spawn leaves
 * them ignored in the processes it starts.
 */
static void usual_signals(const struct supervisor_plan *plan)
{
	static const uint64_t usual[4]; /* the kernel's struct: handler (SIG_DFL), flags, restorer, mask */
	sigset_t none;
	if (plan->restore) {
		plan->restore(plan->restore_arg);
		return;
	}
	for (int i = 1; i < NSIG; i++)
		syscall(SYS_rt_sigaction, i, usual, NULL, sizeof(uint64_t));
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int pin(const struct supervisor_plan *plan)
{
	return plan->cpus && sched_setaffinity(0, sizeof(*plan->cpus), plan->cpus) ? -errno : 0;
}

static int raise_priority(const struct supervisor_plan *plan)
{
	return plan->has_priority ? priority_pass_on() : 0;
}

static int enter(const struct supervisor_plan *plan)
{
	return plan->cwd && chdir(plan->cwd) ? -errno : 0;
}

/* If the barrier closes without being opened, the process that had to open it has died. */
static int wait_at_start_barrier(const struct supervisor_plan *plan)
{
	char go;
	ssize_t n = 1;
	if (plan->has_start_barrier)
		do
			n = read(plan->barrier_fd, &go, 1);
		while (n < 0 && errno == EINTR);
	return n == 1 ? 0 : -ECANCELED;
}

static int pass_descriptors(const struct supervisor_plan *plan)
{
	int rc = set_streams(plan->fds);
	return rc ? rc : keep_descriptors(plan);
}

void supervisor_exec_child(const struct supervisor_plan *plan, int report)
{
	static const struct {
		int stage;
		int (*step)(const struct supervisor_plan *plan);
	} steps[] = {
		{ SUPERVISOR_AT_PRIORITY, raise_priority }, /* first: a cgroup rejects real-time processes */
		{ SUPERVISOR_AT_GROUP, join_groups },
		{ SUPERVISOR_AT_STREAMS, pass_descriptors },
		{ SUPERVISOR_AT_PIN, pin },
		{ SUPERVISOR_AT_CWD, enter },
		{ SUPERVISOR_AT_BARRIER, wait_at_start_barrier },
	};
	if (!plan->is_foreground)
		setpgid(0, 0);
	if (plan->is_bound)
		prctl(PR_SET_PDEATHSIG, SIGKILL); /* it must not outlive a killed supervisor */
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		int rc = steps[i].step(plan);
		if (rc)
			supervisor_report(report, steps[i].stage, -rc);
	}
	usual_signals(plan);
	environ = (char **)(uintptr_t)plan->envp;
	send_report(report, SUPERVISOR_AT_EXEC, 0);
	execvp(plan->argv[0], plan->argv);
	supervisor_report(report, SUPERVISOR_AT_EXEC, errno);
}
