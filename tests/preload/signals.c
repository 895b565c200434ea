/*
 * Signal handlers that make calls, that jump out of calls, and that have little
 * stack to do it on; and a program that may not make large files.
 */
#include "expect.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

static int r, ends[2];
static const char *pipe_path;
static sigjmp_buf back;

static void after(int ms, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags };
	struct itimerval timer = { .it_value = { .tv_usec = ms * 1000 } };
	CHECK(!sigaction(SIGALRM, &action, NULL) && !setitimer(ITIMER_REAL, &timer, NULL));
}

static void make_calls(int signal)
{
	int kept = errno;
	r = access("/from-handler", F_OK);
	WANT(access, .path = "/from-handler", .ret = r, .args = " mode=0");
	errno = kept;
}

static void jump(int signal)
{
	siglongjmp(back, 1);
}

/* A blocked call, interrupted: its record comes after those of the handler. */
static void interrupted(void)
{
	char c;
	after(20, make_calls, 0);
	ssize_t n = read(ends[0], &c, 1);
	CHECK(n == -1 && errno == EINTR);
	WANT(read, .fd = ends[0], .path = pipe_path, .size = 1, .ret = n);
	r = -1;
	after(20, make_calls, SA_RESTART);
	if (raw(SYS_fork) == 0) {
		raw(SYS_poll, NULL, 0, 60);
		raw(SYS_write, ends[1], "x", 1);
		raw(SYS_exit_group, 0);
	}
	n = read(ends[0], &c, 1);
	CHECK(n == 1);
	WANT(read, .fd = ends[0], .path = pipe_path, .size = 1, .ret = n);
	raw(SYS_wait4, -1, NULL, 0, NULL);
}

/* A call that never returns leaves no record and nothing broken, however often. */
static void jumped(void)
{
	char c;
	for (int i = 0; i < 5; i++) {
		if (!sigsetjmp(back, 1)) {
			after(5, jump, 0);
			CHECK(read(ends[0], &c, 1) == 12345);
		}
		r = access("/jumped", F_OK);
		WANT(access, .path = "/jumped", .ret = r, .args = " mode=0");
	}
}

/* The kernel's own frame takes the larger part of this stack. */
static void cramped(void)
{
	size_t size = 8192;
	char *at = (char *)raw(SYS_mmap, 0, 3 * size, PROT_NONE, (MAP_PRIVATE | MAP_ANONYMOUS), -1, 0);
	stack_t stack = { .ss_sp = at + size, .ss_size = size };
	raw(SYS_mprotect, at + size, size, (PROT_READ | PROT_WRITE));
	CHECK(!sigaltstack(&stack, NULL));
	struct sigaction action = { .sa_handler = SIG_DFL, .sa_flags = SA_ONSTACK };
	action.sa_handler = make_calls;
	CHECK(!sigaction(SIGUSR1, &action, NULL));
	raise(SIGUSR1);
}

/* A file limit, met by SIGXFSZ: the ring must not be what meets it. */
static void limited(void)
{
	struct rlimit limit = { 4096, 4096 };
	int child = fork();
	WANT(fork, .ret = child);
	if (child == 0) {
		setrlimit(RLIMIT_FSIZE, &limit);
		for (int i = 0; i < 3000; i++) /* more than the first segment holds */
			access("/limited", F_OK);
		raw(SYS_exit_group, 0);
	}
	int status;
	CHECK(raw(SYS_wait4, child, &status, 0, NULL) == child && status == 0);
	errno = ENOENT;
	for (int i = 0; i < 3000; i++)
		WANT(access, .path = "/limited", .ret = -1, .args = " mode=0", .pid = child, .tid = child,
				.is_maybe = 1);
}

int main(void)
{
	raw(SYS_pipe2, ends, 0);
	pipe_path = KEEP(fd_path(ends[0]));
	interrupted();
	jumped();
	cramped();
	limited();
	return ended();
}
