/* The main loop of a supervisor. Nothing here allocates. */
#include "launch/supervisor.h"

#include "base/clock.h"
#include "launch/process-tree.h"
#include "launch/sandbox.h"
#include "launch/scheduling.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define KILL_PAUSE_MS 5 /* between rounds over a tree that is being killed */

struct supervisor {
	const struct supervisor_plan *plan;
	int sock, signals;
	pid_t command;
	int64_t floor_rss_bytes; /* RSS that a child inherits from us by fork */
	int64_t deadline_ns;     /* INT64_MAX: none */
	bool is_killing, is_overdue, is_alone, is_stuck;
};

enum order_kind { ORDER_GO, ORDER_KILL, ORDER_DEADLINE };

/* A request to the supervisor. */
struct order {
	int64_t kind, deadline_ns;
};

/* A child starts with a copy of our memory, which counts as its RSS: up to that size the value is not the command's. */
static int64_t rss_of(const struct supervisor *k, const struct rusage *usage)
{
	int64_t bytes = usage->ru_maxrss * 1024LL;
	return bytes > k->floor_rss_bytes ? bytes : -1;
}

static void send_word(const struct supervisor *k, struct supervisor_message *word, int fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { .iov_base = word, .iov_len = sizeof(*word) };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };
	getrusage(RUSAGE_CHILDREN, &word->usage);
	word->max_rss_bytes = rss_of(k, &word->usage);
	if (fd >= 0) {
		control.header = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
			.cmsg_type = SCM_RIGHTS,
			.cmsg_len = CMSG_LEN(sizeof(int)) };
		memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
		message.msg_control = control.bytes;
		message.msg_controllen = sizeof(control.bytes);
	}
	while (sendmsg(k->sock, &message, MSG_NOSIGNAL) < 0 && errno == EINTR)
		;
}

static void fail(const struct supervisor *k, int stage, int errnum)
{
	struct supervisor_message word = { .kind = SUPERVISOR_FAILED, .stage = stage, .errnum = errnum };
	send_word(k, &word, -1);
	_exit(1);
}

pid_t supervisor_fork(uint64_t namespaces, int exit_signal, int cgroup_fd, int *pidfd)
{
	struct clone_args args = { .flags = CLONE_PIDFD | namespaces,
		.pidfd = (uintptr_t)pidfd,
		.exit_signal = (uint64_t)exit_signal };
	if (cgroup_fd >= 0) {
		args.flags |= CLONE_INTO_CGROUP;
		args.cgroup = (uint64_t)cgroup_fd;
	}
	long pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid < 0 && cgroup_fd < 0) /* some container engines forbid clone3 */
		pid = syscall(SYS_clone, CLONE_PIDFD | namespaces | (uint64_t)exit_signal, NULL, pidfd, NULL, NULL);
	return pid < 0 ? -errno : (pid_t)pid;
}

/*
 * The last report of the child: that it is about to exec, after which exec closed the pipe, or the stage that
 * failed.
 */
static struct supervisor_report read_report(int fd)
{
	struct supervisor_report last = { .stage = SUPERVISOR_AT_FORK, .errnum = ECHILD }, next;
	for (;;) {
		ssize_t n = read(fd, &next, sizeof(next));
		if (n == sizeof(next)) {
			int64_t at_ns = next.errnum ? last.at_ns : next.at_ns;
			last = next;
			last.at_ns = at_ns;
		} else if (n >= 0 || errno != EINTR) {
			return last;
		}
	}
}

/* Reports that the command exists, and opens the barrier on request. */
static void keep_start_barrier(const struct supervisor *k, pid_t pid, int pidfd, int start_barrier)
{
	struct supervisor_message word = { .kind = SUPERVISOR_BORN, .pid = pid };
	struct order order;
	ssize_t n;
	send_word(k, &word, pidfd);
	do
		n = recv(k->sock, &order, sizeof(order), 0);
	while (n < 0 && errno == EINTR);
	if (n == sizeof(order) && order.kind == ORDER_GO && write(start_barrier, "", 1) < 0)
		return; /* it was killed at the barrier; reap reports it */
}

static void start_command(struct supervisor *k)
{
	int report[2], start_barrier[2] = { -1, -1 }, pidfd = -1;
	struct rusage own;
	struct supervisor_plan plan = *k->plan;
	if (pipe2(report, O_CLOEXEC) || (plan.has_start_barrier && pipe2(start_barrier, O_CLOEXEC)))
		fail(k, SUPERVISOR_AT_FORK, errno);
	plan.barrier_fd = start_barrier[0];
	getrusage(RUSAGE_SELF, &own);
	k->floor_rss_bytes = own.ru_maxrss * 1024LL;
	pid_t pid = supervisor_fork(0, SIGCHLD, k->plan->cgroup_fd, &pidfd);
	if (pid < 0 && k->plan->cgroup_fd >= 0) { /* an older kernel, or a seccomp filter: write to cgroup.procs */
		plan.is_joining = true;
		pid = supervisor_fork(0, SIGCHLD, -1, &pidfd);
	}
	if (!pid) {
		close(start_barrier[1]);
		supervisor_exec_child(&plan, report[1]);
	}
	if (pid < 0)
		fail(k, SUPERVISOR_AT_FORK, -pid);
	close(report[1]);
	close(start_barrier[0]);
	if (plan.has_start_barrier)
		keep_start_barrier(k, pid, pidfd, start_barrier[1]);
	close(start_barrier[1]);
	struct supervisor_report said = read_report(report[0]);
	close(report[0]);
	if (said.errnum) {
		waitpid(pid, NULL, 0);
		fail(k, said.stage, said.errnum);
	}
	k->command = pid;
	struct supervisor_message word = { .kind = SUPERVISOR_STARTED, .pid = pid, .at_ns = said.at_ns };
	send_word(k, &word, pidfd);
	close(pidfd);
}

/* Reaps all exited children. Without any child left the supervisor exits. */
static void reap(struct supervisor *k)
{
	int status;
	for (;;) {
		pid_t pid = waitpid(-1, &status, WNOHANG | __WALL);
		if (!pid)
			return;
		if (pid < 0 && errno == ECHILD) {
			struct supervisor_message word = { .kind = SUPERVISOR_GONE, .at_ns = clock_mono_ns() };
			send_word(k, &word, -1);
			_exit(0);
		}
		if (pid == k->command) {
			struct supervisor_message word = { .kind = SUPERVISOR_ENDED,
				.status = status,
				.is_overdue = k->is_overdue,
				.at_ns = clock_mono_ns() };
			k->command = -1; /* the pid may be reused */
			send_word(k, &word, -1);
		}
	}
}

/* Signals only our own children: their pids stay valid until we reap them. Their orphans become our children. */
static bool kill_child(void *arg, const struct tree_process *p)
{
	struct supervisor *k = arg;
	if (p->parent != getpid() || !kill(p->pid, SIGKILL) || errno != EPERM || k->is_stuck)
		return true;
	struct supervisor_message word = { .kind = SUPERVISOR_STUCK, .pid = p->pid, .errnum = errno };
	k->is_stuck = true;
	send_word(k, &word, -1);
	return true;
}

static bool request_child_end(void *arg, const struct tree_process *p)
{
	if (p->parent == getpid())
		kill(p->pid, SIGTERM);
	return true;
}

/* Sonde has died: kill the tree, at once or after the grace period. */
static void go_after_us(struct supervisor *k)
{
	int64_t until_ns = clock_mono_ns() + k->plan->mercy_ns;
	if (k->plan->mercy_ns > 0)
		tree_scan(request_child_end, k);
	if (until_ns < k->deadline_ns)
		k->deadline_ns = until_ns;
}

/* Reads a request, or end of file if sonde has died. */
static void listen_to(struct supervisor *k)
{
	struct order order;
	ssize_t n = recv(k->sock, &order, sizeof(order), MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	k->is_alone = n <= 0; /* also ECONNRESET: it died with messages unread */
	if (n == sizeof(order) && order.kind == ORDER_DEADLINE)
		k->deadline_ns = order.deadline_ns;
	else if (n > 0)
		k->is_killing = true;
	else if (k->plan->is_bound)
		go_after_us(k);
}

/* Poll timeout in milliseconds; -1: none. */
static int patience_ms(const struct supervisor *k)
{
	int64_t left_ns;
	if (k->is_killing)
		return KILL_PAUSE_MS;
	if (k->deadline_ns == INT64_MAX)
		return -1;
	left_ns = k->deadline_ns - clock_mono_ns();
	if (left_ns <= 0)
		return 0;
	return left_ns > INT64_C(1000000000000) ? 1000000 : (int)(left_ns / 1000000) + 1;
}

static void keep(struct supervisor *k)
{
	struct signalfd_siginfo info;
	for (;;) {
		reap(k);
		if (!k->is_killing && clock_mono_ns() >= k->deadline_ns)
			k->is_killing = k->is_overdue = true;
		if (k->is_killing) {
			/* As process 1 of a PID namespace, one signal reaches all. */
			if (getpid() == 1)
				kill(-1, SIGKILL);
			else
				tree_scan(kill_child, k);
		}
		struct pollfd fds[] = { { .fd = k->signals, .events = POLLIN },
			{ .fd = k->is_alone ? -1 : k->sock, .events = POLLIN } };
		poll(fds, 2, patience_ms(k));
		while (read(k->signals, &info, sizeof(info)) > 0)
			;
		if (fds[1].revents)
			listen_to(k);
	}
}

static void live(const struct supervisor_plan *plan, int sock) __attribute__((noreturn));
static void live(const struct supervisor_plan *plan, int sock)
{
	struct supervisor k = { .plan = plan, .sock = sock, .deadline_ns = INT64_MAX };
	/* Move both away from 0 and 1, which are their final numbers. */
	k.sock = fcntl(sock, F_DUPFD_CLOEXEC, 3);
	/* SIGCHLD arrives as a descriptor. */
	sigset_t set;
	struct sigaction usual = { .sa_handler = SIG_DFL };
	sigaction(SIGCHLD, &usual, NULL); /* if SIGCHLD is ignored, the exit status of a child is lost */
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	int signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	k.signals = signals < 0 ? -1 : fcntl(signals, F_DUPFD_CLOEXEC, 3);
	close(sock);
	if (signals >= 0)
		close(signals);
	if (k.sock < 0 || k.signals < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1))
		fail(&k, SUPERVISOR_AT_FORK, errno);
	prctl(PR_SET_NAME, "sonde-keeper");
	if (plan->has_priority)
		priority_raise();
	if (plan->sandbox) {
		int stage = 0, rc = sandbox_enter(plan->sandbox, &stage);
		if (rc)
			fail(&k, SUPERVISOR_AT_SANDBOX + stage, -rc);
	}
	start_command(&k);
	/* Closes all inherited descriptors except these two. */
	dup2(k.sock, 0);
	dup2(k.signals, 1);
	syscall(SYS_close_range, 2, ~0u, 0);
	k.sock = 0;
	k.signals = 1;
	for (;;)
		keep(&k);
}

int supervisor_start(const struct supervisor_plan *plan, int *sock, int *supervisor_pidfd, pid_t *supervisor_pid)
{
	int pair[2];
	sigset_t all, old;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -errno;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old); /* no signal handler of ours may run in the supervisor */
	pid_t pid = supervisor_fork(plan->sandbox ? sandbox_namespaces(plan->sandbox) : 0, 0, -1, supervisor_pidfd);
	if (!pid) {
		close(pair[0]);
		live(plan, pair[1]);
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return pid;
	}
	*sock = pair[0];
	*supervisor_pid = pid;
	return 0;
}

int supervisor_receive(int sock, struct supervisor_message *word, int *fd)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { .iov_base = word, .iov_len = sizeof(*word) };
	struct msghdr message = { .msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes) };
	ssize_t n;
	*fd = -1;
	do /* A supervisor that exits with a request of ours unread causes one ECONNRESET; its messages follow. */
		n = recvmsg(sock, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	while (n < 0 && (errno == EINTR || errno == ECONNRESET));
	if (n < 0)
		return errno == EAGAIN ? -EAGAIN : 0;
	const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(header), sizeof(*fd));
	return n == sizeof(*word);
}

static int send_report(int sock, enum order_kind kind, int64_t deadline_ns)
{
	struct order order = { .kind = kind, .deadline_ns = deadline_ns };
	return send(sock, &order, sizeof(order), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int supervisor_send_kill(int sock)
{
	return send_report(sock, ORDER_KILL, 0);
}

int supervisor_open_barrier(int sock)
{
	return send_report(sock, ORDER_GO, 0);
}

int supervisor_set_deadline(int sock, int64_t deadline_ns)
{
	return send_report(sock, ORDER_DEADLINE, deadline_ns);
}

const char *supervisor_stage_words(int stage)
{
	static const char *const words[] = {
		[SUPERVISOR_AT_FORK] = "cannot start a process",
		[SUPERVISOR_AT_GROUP] = "cannot join the control group",
		[SUPERVISOR_AT_STREAMS] = "cannot give the command its descriptors",
		[SUPERVISOR_AT_PRIORITY] = "cannot give the command its priority",
		[SUPERVISOR_AT_PIN] = "cannot pin the command to its CPUs",
		[SUPERVISOR_AT_CWD] = "cannot enter the command's directory",
		[SUPERVISOR_AT_BARRIER] = "cannot let the command go",
		[SUPERVISOR_AT_EXEC] = "cannot execute the command",
	};
	return stage < SUPERVISOR_AT_SANDBOX ? words[stage] : sandbox_stage_words(stage - SUPERVISOR_AT_SANDBOX);
}
