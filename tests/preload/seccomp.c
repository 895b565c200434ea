/*
 * A program that gives up all system calls but a few. Any other that the tracer
 * made would kill it; what it does is recorded all the same.
 */
#include "expect.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define WRITES 300

#define ALLOW(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

static struct sock_filter code[] = {
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	ALLOW(SYS_read),
	ALLOW(SYS_write),
	ALLOW(SYS_rt_sigreturn),
	ALLOW(SYS_exit_group),
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
};
static struct sock_fprog filter = { .len = sizeof(code) / sizeof(*code), .filter = code };

static void install(int by_syscall)
{
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (by_syscall)
		syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter);
	else
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0);
}

static void child_work(int fd, int by_syscall)
{
	install(by_syscall);
	for (int i = 0; i < WRITES; i++)
		if (write(fd, "x", 1) != 1)
			raw(SYS_exit_group, 1);
	write(-1, "x", 1);
	write(fd + 1, "x", 1); /* a descriptor that nobody knows, and that cannot be looked up any more */
	raw(SYS_exit_group, 0);
}

static void confined(int by_syscall)
{
	const char *path = KEEP(P("f"));
	int fd = open("f", O_RDWR | O_CREAT | O_TRUNC, 0600), status;
	WANT(open, .fd = fd, .path = path, .ret = fd, .args = F(" flags=%d mode=%d", O_RDWR | O_CREAT | O_TRUNC, 0600));
	int child = fork();
	if (child == 0)
		child_work(fd, by_syscall);
	WANT(fork, .ret = child);
	CHECK(raw(SYS_wait4, child, &status, 0, NULL) == child);
	CHECK(status == 0);
	WANT(fork, .ret = 0, .pid = child, .tid = child);
	WANT(prctl, .ret = 0, .args = F(" option=%d arg=1", PR_SET_NO_NEW_PRIVS), .pid = child, .tid = child);
	if (!by_syscall)
		WANT(prctl, .ret = 0, .args = F(" option=%d arg=%d", PR_SET_SECCOMP, SECCOMP_MODE_FILTER), .pid = child,
				.tid = child);
	for (int i = 0; i < WRITES; i++)
		WANT(write, .fd = fd, .path = path, .size = 1, .ret = 1, .pid = child, .tid = child);
	WANT(write, .size = 1, .ret = -1, .err = EBADF, .pid = child, .tid = child);
	WANT(write, .fd = fd + 1, .size = 1, .ret = -1, .err = EBADF, .pid = child, .tid = child);
	raw_close(fd);
}

int main(void)
{
	confined(0);
	confined(1);
	return ended();
}
